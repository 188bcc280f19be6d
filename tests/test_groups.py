"""Groups of rows without labels: found by EM from several starts, and learned as a model like any other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from candide import NaiveBayes, load, store
from candide.api import verbs
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.model.options import Options
from candide.model.row_sample import canonical_rows
from candide.training.cluster import cluster_rows, learned_by_answers


def flowers(rows=150, seed=0):
    """Three kinds of rows, and which each is."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, rows)
    table = {
        "length": kind * 4.0 + rng.normal(size=rows),
        "petals": rng.poisson(np.array([3, 9, 20])[kind]),
        "colour": np.array(["red", "blue", "white"])[(kind + (rng.random(rows) < 0.2)) % 3],
    }
    return table, kind


def agreement(found, kind):
    """The share of rows whose group is the one that most rows of their kind are in; no group may stand for two."""
    table = np.array([[np.sum((found == group) & (kind == one)) for group in np.unique(found)] for one in range(3)])
    assert len({*table.argmax(axis=1)}) == 3
    return table.max(axis=1).sum() / len(kind)


@pytest.fixture(scope="module")
def found():
    return verbs.cluster(pa.table(flowers()[0]), 3)


def test_groups_are_the_kinds_that_rows_are_of(found):
    table, kind = flowers()
    assert agreement(NaiveBayes.of(found.trained).predict(table), kind) > 0.95
    new, truth = flowers(seed=1)
    assert agreement(NaiveBayes.of(found.trained).predict(new), truth) > 0.95


def test_every_row_counts_as_one_and_the_largest_group_comes_first(found):
    assert found.rows == 150
    counts = found.trained.summary.counts
    assert counts.sum() == 150
    assert (np.diff(counts) <= 0).all()
    assert found.classes == ("group 1", "group 2", "group 3")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_order_and_threads_do_not_matter(found, threads, monkeypatch):
    monkeypatch.setenv("CANDIDE_THREADS", threads)
    order = np.random.default_rng(int(threads)).permutation(150)
    again = verbs.cluster(pa.table({name: values[order] for name, values in flowers()[0].items()}), 3)
    assert again.trained == found.trained


def test_steps_make_rows_more_probable_until_they_rest(found):
    told = found.provenance["groups"]
    assert told["converged"]
    assert len(told["starts"]) == 8
    after_the_start = np.array(told["path"][1:])
    assert np.diff(after_the_start).min() > -0.01
    assert told["path"][-1] > max(told["starts"]) - 0.01


def test_the_model_is_one_like_any_other(found, tmp_path):
    table, _ = flowers(20, seed=2)
    found.save(tmp_path / "groups.candide")
    model = load(tmp_path / "groups.candide")
    assert model.trained_ == found.trained
    scores = model.predictor_.reported(Batch.of(table))
    for why, row in zip(model.explain(table), scores, strict=True):
        assert sum((one.reported for one in why.evidence), why.start) == pytest.approx(row, abs=1e-9)
    before = store.model_file.canonical_bytes(model.trained_)
    rows = {name: values[:5] for name, values in table.items()}
    model.learn(rows, ["group 1"] * 5)
    assert model.summary_.rows == 155
    assert model.forget(rows, ["group 1"] * 5).summary_ == found.trained.summary
    assert store.model_file.canonical_bytes(found.trained) == before


def test_a_file_too_long_to_hold_is_learned_by_what_its_rows_are_taken_for(found):
    """The rows that groups were found in, given once more as if there were others, leave about the same counts."""
    batch = canonical_rows(Batch.of(flowers()[0]))
    again = learned_by_answers(found.trained, batch.split(40))
    assert again.summary.rows == 150
    assert again.summary.counts == pytest.approx(found.trained.summary.counts, abs=1.0)
    clustered = cluster_rows(Options(calibrate=False), batch, 3, lambda: [batch, batch], "group")
    assert clustered.trained.summary.rows == 300


def test_rows_come_back_with_their_groups(found, tmp_path):
    table = pa.table(flowers()[0])
    verbs.cluster(table, 3, out=tmp_path / "grouped.parquet")
    written = pa.parquet.read_table(tmp_path / "grouped.parquet")
    assert written["group"].to_pylist() == NaiveBayes.of(found.trained).predict(table).tolist()


def test_a_few_rows_that_agree_are_no_group_of_endless_probability():
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 2, 200)
    gains = np.where(rng.random(200) < 0.3, 0.0, rng.normal(100, 30, 200))
    numbers = {"gain": gains, "height": kind * 6 + rng.normal(size=200), "width": kind * 5 + rng.normal(size=200)}
    groups = NaiveBayes.of(verbs.cluster(numbers, 2).trained).predict(numbers)
    assert max(np.mean((groups == "group 1") == kind), np.mean((groups == "group 2") == kind)) > 0.95


def test_texts_form_groups_and_ids_have_no_say():
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 2, 120)
    words = [["sea", "wave", "sand", "boat", "salt"], ["snow", "ice", "peak", "ski", "frost"]]
    texts = [" ".join(rng.choice([*words[one], "the", "and", "of"], 9)) for one in kind]
    fitted = verbs.cluster({"id": [f"row{number:05}" for number in range(120)], "text": texts}, 2)
    groups = NaiveBayes.of(fitted.trained).predict({"id": ["x"] * 120, "text": texts})
    assert max(np.mean((groups == "group 1") == kind), np.mean((groups == "group 2") == kind)) > 0.95
    assert [choice.family is None for choice in fitted.trained.schema.choices] == [True, False]


@pytest.mark.parametrize("groups", [0, 1, 151])
def test_a_number_of_groups_that_cannot_be_is_refused(groups):
    with pytest.raises(OptionRefused, match="from 2 to the number of rows"):
        verbs.cluster(pa.table(flowers()[0]), groups)
    with pytest.raises(OptionRefused, match="starts"):
        verbs.cluster(pa.table(flowers()[0]), 3, starts=0)
