"""Which family each column gets, guessed or given, and why."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from candide.data.batch import Batch
from candide.data.errors import SummariesDisagree
from candide.families.binomial import Binomial
from candide.families.categorical import Categorical
from candide.families.gaussian import Gaussian
from candide.families.poisson import Poisson
from candide.model.schema import Schema, choose

rng = np.random.default_rng(6)


def choice_for(values, **options):
    return choose(Batch.of({"column": list(values)}), **options).choices[0]


@pytest.mark.parametrize(
    ("values", "family"),
    [
        ([True, False, None], "bernoulli"),
        (["red", "green", "red"], "categorical"),
        ([b"red", b"green"], "categorical"),
        (rng.normal(100, 5, 200), "gaussian"),
        (rng.lognormal(8, 2, 200), "lognormal"),
        ([1, 2, 3] * 20, "categorical"),
        ([1.5, 2.5, -3.0], "gaussian"),
        ([f"free text of many words {number}" for number in range(3)], "categorical"),
    ],
)
def test_guesses(values, family):
    choice = choice_for(values)
    assert choice.family.name == family
    assert choice.reason


def test_a_column_without_values_is_left_out():
    choice = choice_for([None, None])
    assert choice.family is None
    assert "missing" in choice.reason


def test_a_sparse_matrix_of_counts_is_multinomial():
    counts, numbers = sp.csr_array([[1, 0], [0, 3]]), sp.csr_array([[0.5, 0], [0, 3]])
    assert [block.family.name for block in choose(Batch.of(counts)).blocks] == ["multinomial"]
    assert [block.family.name for block in choose(Batch.of(numbers)).blocks] == ["gaussian"]


def test_guesses_do_not_depend_on_the_order_of_rows():
    rows = {"x": rng.lognormal(3, 2, 300), "y": rng.integers(0, 5, 300), "z": rng.choice(list("abc"), 300)}
    order = rng.permutation(300)
    assert choose(Batch.of(rows)) == choose(Batch.of({name: values[order] for name, values in rows.items()}))


def test_what_is_said_is_done():
    rows = Batch.of({"a": [1.0, 2.5], "b": [3, 4], "c": ["x", "y"]})
    schema = choose(rows, families={"a": "gaussian", "b": Binomial(trials=9), "c": "ignore"})
    assert [choice.family for choice in schema.choices] == [Gaussian(), Binomial(trials=9), None]
    assert all(choice.reason == "as you said" for choice in schema.choices)


def test_one_family_speaks_for_all_columns():
    schema = choose(Batch.of({"a": [1, 2], "b": [3, 4]}), families="poisson")
    assert [(block.family, block.columns) for block in schema.blocks] == [(Poisson(), ("a", "b"))]


def test_one_number_smooths_the_families_that_count():
    rows = Batch.of({"a": [1.0, 2.5], "b": ["x", "y"]})
    schema = choose(rows, families={"a": "gaussian", "b": "categorical"}, smoothing=0.25)
    assert [choice.family for choice in schema.choices] == [Gaussian(), Categorical(smoothing=0.25)]


def test_a_mapping_smooths_any_family():
    rows = Batch.of({"a": [1.0, 2.5], "b": ["x", "y"]})
    schema = choose(rows, families={"a": "gaussian", "b": "categorical"}, smoothing={"a": 3})
    assert [choice.family for choice in schema.choices] == [Gaussian(smoothing=3.0), Categorical()]


def test_columns_of_one_family_form_one_block_unless_smoothed_apart():
    rows = Batch.of({"a": ["x"], "b": ["y"], "c": ["z"]})
    together = choose(rows, families="categorical")
    apart = choose(rows, families="categorical", smoothing={"b": 2})
    assert [block.columns for block in together.blocks] == [("a", "b", "c")]
    assert [block.columns for block in apart.blocks] == [("a", "c"), ("b",)]


def test_a_schema_grows_by_columns_it_does_not_know():
    old = choose(Batch.of({"a": [1.5], "b": ["x"]}), families={"a": "gaussian", "b": "categorical"})
    new = choose(Batch.of({"b": [7.5], "c": [1]}), families={"b": "gaussian", "c": "poisson"})
    assert old.extended(new).columns == ("a", "b", "c")
    assert old.extended(new).choices[:2] == old.choices


def test_fingerprints_tell_schemas_apart():
    rows = Batch.of({"a": [1, 2], "b": [3, 4]})
    fingerprints = {
        choose(rows, families=families, smoothing=smoothing).fingerprint
        for families in ("poisson", "categorical", {"a": "poisson", "b": "categorical"})
        for smoothing in ("auto", {"a": 5})
    }
    assert len(fingerprints) == 6
    assert choose(rows, families="poisson").fingerprint == choose(rows, families="poisson").fingerprint


def test_summaries_of_different_schemas_do_not_add():
    rows = Batch.of({"a": [1, 2]}, ["x", "y"])
    counts, categories = choose(rows, families="poisson"), choose(rows, families="categorical")
    with pytest.raises(SummariesDisagree, match=r"column 'a'.*Fit the second like the first"):
        counts.summarize(rows) + categories.summarize(rows)


def test_an_explanation_has_one_line_a_column():
    rows = Batch.of({"age": [1.5, 2.5], "colour": ["red", "green"], "note": ["a", "b"]})
    schema = choose(rows, families={"age": "gaussian", "note": "ignore"})
    assert [line.split()[:2] for line in schema.explain().splitlines()] == [
        ["age", "gaussian"],
        ["colour", "categorical"],
        ["note", "left"],
    ]
    assert Schema(()).explain() == ""


def test_a_guess_from_a_sample_is_given_up_where_a_row_outside_it_does_not_fit():
    """Whichever row the sample lacks: one of so many below zero makes none of them counts."""
    counts = np.append(np.random.default_rng(0).poisson(9, 300_000), -1)
    assert choose(Batch.of({"visits": counts[:-1]})).choices[0].family.name == "negative_binomial"
    assert choose(Batch.of({"visits": counts})).choices[0].family.name == "gaussian"


def test_missing_times_are_a_value_where_that_is_asked_for():
    times = np.array(["2024-01-01", "2024-01-02", "NaT"], dtype="datetime64[s]")
    schema = choose(Batch.of(pa.table({"when": times})), families="calendar", missing_is_value=True)
    assert schema.choices[0].family.missing_is_value
