"""Rows that are asked about many times are read once, however many families are tried on them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from candide import NaiveBayes
from candide.data import batch as batches
from candide.data.batch import Batch
from candide.data.values import Coded


@pytest.fixture
def reads(monkeypatch):
    """How many rows of a column were turned into numbers and into categories."""
    found: Counter[str] = Counter()
    as_numbers, coded = batches.as_numbers, Coded.of

    def numbers_counted(column, name):
        found[f"{name}: numbers"] += len(column)
        return as_numbers(column, name)

    def coded_counted(column):
        found["categories"] += len(column)
        return coded(column)

    monkeypatch.setattr(batches, "as_numbers", numbers_counted)
    monkeypatch.setattr(Coded, "of", coded_counted)
    return found


def visits(rows):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, rows)
    table = {"size": rng.normal(size=rows) + labels, "wait": rng.gamma(1.0 + labels), "visits": rng.poisson(1 + labels)}
    return {name: values.tolist() for name, values in table.items()}, labels.tolist()


def test_a_default_fit_reads_a_column_of_numbers_once_to_choose_and_once_to_learn(reads):
    """And twice for the order of rows and the guess: none of it depends on how many families are tried."""
    table, labels = visits(600)
    NaiveBayes().fit(table, labels)
    for name in table:
        assert reads[f"{name}: numbers"] <= 6 * 600, reads


def test_a_batch_reads_once_what_it_keeps(reads):
    table, _ = visits(50)
    kept = Batch.of(table).read_once()
    for names in (["size"], ["size", "wait"], ["wait"]):
        assert np.array_equal(kept.numbers(names), Batch.of(table).numbers(names))
    reads.clear()
    kept.numbers(["size"])
    kept.only(["wait", "size"]).numbers(["wait", "size"])
    assert not reads
    assert kept.categories("visits") is kept.categories("visits")


def test_other_rows_and_other_names_are_read_for_themselves():
    table, _ = visits(50)
    kept = Batch.of(table).read_once()
    kept.numbers(["size"])
    assert kept.rows(10, 20).numbers(["size"])[:, 0].tolist() == table["size"][10:20]
    assert kept.take(np.array([3, 1])).numbers(["size"])[:, 0].tolist() == [table["size"][3], table["size"][1]]
    assert kept.renamed(["wait", "size", "visits"]).numbers(["size"])[:, 0].tolist() == table["wait"]
    assert kept.with_missing(["size", "more"]).numbers(["size"])[:, 0].tolist() == table["size"]
