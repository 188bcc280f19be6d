"""Drift between two models: what moved is found from their counts, and what chance did is not called drift."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import commands
from candide import NaiveBayes, TextOptions, compare, fit, merge, store
from candide.data.errors import OptionRefused, SummariesDisagree
from candide.evaluation.drift import Divergence, Drift, drift_between
from candide.evaluation.drift.counts import INTERVALS, PairedCounts
from candide.evaluation.drift.divergence import jensen_shannon

ROWS = 600


def table(seed: int = 0, rows: int = ROWS) -> dict[str, list]:
    """Numbers, counts, categories, truths, gaps and times, most of which tell of the class."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, rows)
    size = np.round(10 + 3 * kind + rng.normal(0, 2, rows), 2)
    size[rng.random(rows) < 0.05] = np.nan
    return {
        "size": [None if np.isnan(one) else float(one) for one in size],
        "visits": rng.poisson(2 + kind).tolist(),
        "colour": [("red", "green", "blue", "grey")[(one + rng.integers(0, 3)) % 4] for one in kind],
        "ripe": (rng.random(rows) < 0.3 + 0.2 * kind).tolist(),
        "day": [datetime.date(2024, 1, 1) + datetime.timedelta(int(one)) for one in rng.integers(0, 200, rows)],
        "fruit": [("apple", "pear", "plum")[one] for one in kind],
    }


def fitted(rows: dict[str, list], **options):
    return fit(rows, "fruit", **{"calibrate": False, **options})


@cache
def monday():
    return fitted(table(0))


def moved(before, after) -> list[str]:
    return sorted(column.column for column in compare([before, after]).moved)


def taken(rows: dict[str, list], wanted) -> dict[str, list]:
    return {name: [values[row] for row in wanted] for name, values in rows.items()}


def with_column(rows: dict[str, list], column: str, values) -> dict[str, list]:
    return {**rows, column: list(values)}


@pytest.mark.parametrize(("cells", "before", "after"), [(2, 200, 200), (8, 400, 100), (30, 1000, 3000)])
def test_chance_leaves_as_much_as_is_said(cells, before, after):
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(cells, 5.0))
    pairs = [(rng.multinomial(before, shares) * 1.0, rng.multinomial(after, shares) * 1.0) for _ in range(1500)]
    found = [Divergence.of(*pair) for pair in pairs]
    bits = np.array([one.bits for one in found])
    assert np.mean([one.chance for one in found]) == pytest.approx(bits.mean(), rel=0.1)
    assert np.mean([one.spread for one in found]) == pytest.approx(bits.std(), rel=0.2)
    assert sum(one.is_beyond_chance for one in found) <= 3


@pytest.mark.parametrize("numbers", [True, False])
def test_many_rare_values_are_no_drift(numbers):
    rng = np.random.default_rng(2)
    pairs = [[rng.multinomial(rows, np.full(900, 1 / 900))[:, None] * 1.0 for rows in (300, 900)] for _ in range(200)]
    found = [PairedCounts(*pair, ordered=900 * numbers).divergence for pair in pairs]
    assert sum(one.is_beyond_chance for one in found) <= 1
    assert max(one.chance for one in found) < (INTERVALS + 1) * (1 / 300 + 1 / 900) / (8 * np.log(2))


counts = st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any)


@given(counts, counts, counts)
def test_laws_of_the_divergence(before, after, more):
    before, after, more = (np.array(one, dtype=np.float64) for one in (before, after, more))
    found = jensen_shannon(before, after)
    assert 0 <= found <= 1
    assert found == pytest.approx(jensen_shannon(after, before), abs=1e-15)
    assert jensen_shannon(before, before) == 0
    assert jensen_shannon(before, 7 * before) < 1e-15
    equal = after * before.sum() / after.sum()
    assert jensen_shannon(before + more, equal + more) <= found + 1e-12


def test_a_model_has_not_drifted_from_itself():
    found = compare([monday(), monday()])
    assert isinstance(found, Drift)
    assert {column.column for column in found.columns} == {"size", "visits", "colour", "ripe", "day"}
    assert all(column.overall.bits == column.within.bits == 0 for column in found.columns)
    assert found.class_divergence.bits == 0
    assert not found.moved
    assert not found.notes


def test_drift_is_symmetric():
    other = fitted(table(5, 300))
    there, back = compare([monday(), other]), compare([other, monday()])
    for column in there.columns:
        same = back[column.column]
        assert column.overall.bits == pytest.approx(same.overall.bits, abs=1e-14)
        assert column.within.bits == pytest.approx(same.within.bits, abs=1e-14)
        assert column.overall.limit == pytest.approx(same.overall.limit)


def test_the_same_rows_in_both_make_drift_smaller():
    rows = table(3)
    other = fitted(with_column(rows, "colour", ["red"] * 300 + rows["colour"][300:]))
    mine, more = monday(), fitted(table(4))
    apart = compare([mine, other])["colour"].overall
    nearer = compare([merge([mine, more]), merge([other, more])])["colour"].overall
    assert apart.is_beyond_chance
    assert 0 < nearer.bits < apart.bits


def test_what_was_merged_and_subtracted_again_has_not_drifted():
    mine, more = monday().trained, fitted(table(4)).trained
    both = merge([monday(), fitted(table(4))]).trained
    for kept, gone in ((mine, more), (more, mine)):
        left = both.summary - gone.summary
        rest = replace(kept, summary=left)
        found = drift_between(rest, kept)
        assert all(column.overall.bits == column.within.bits == 0 for column in found.columns)


@pytest.mark.parametrize("seed", range(5))
def test_halves_of_one_table_have_not_drifted(seed):
    rows, order = table(seed, 1000), np.random.default_rng(seed).permutation(1000)
    found = compare([fitted(taken(rows, part)) for part in (order[:500], order[500:])])
    assert found.moved == ()
    assert not found.class_divergence.is_beyond_chance


def test_a_number_that_shifted_is_found_alone_with_its_median():
    rows = table(3)
    later = fitted(with_column(rows, "size", [None if one is None else one + 2 for one in rows["size"]]))
    (found,) = compare([monday(), later]).moved
    assert found.column == "size"
    assert found.within.is_beyond_chance
    (median,) = [change for change in found.changes if change.what == "median"]
    assert median.after - median.before == pytest.approx(2, abs=0.5)
    assert found.sentence == f"median {median.after:.4g}, was {median.before:.4g}"


def test_a_spread_that_grew_is_told_by_the_quartiles():
    rows = {"x": [float(one) for one in range(-50, 51)] * 3, "fruit": ["apple", "pear", "plum"] * 101}
    (found,) = compare([fitted(rows), fitted(with_column(rows, "x", [3 * one for one in rows["x"]]))]).moved
    assert [change.what for change in found.changes] == ["lower quartile", "upper quartile"]
    assert "lower quartile -7" in found.sentence


def test_values_that_grew_and_shrank_are_named():
    rows = table(3)
    later = with_column(rows, "colour", ["violet" if one == "red" else one for one in rows["colour"]])
    (found,) = compare([monday(), fitted(later)]).moved
    assert found.column == "colour"
    assert [(one.name, one.after > one.before) for one in found.changes] == [("violet", True), ("red", False)]
    assert "violet 2" in found.sentence
    assert "red 0%, was 2" in found.sentence


def test_missing_values_are_a_cell():
    rows = table(3)
    later = with_column(rows, "visits", [None if row % 5 == 0 else one for row, one in enumerate(rows["visits"])])
    (found,) = compare([monday(), fitted(later)]).moved
    assert found.column == "visits"
    assert found.sentence.startswith("20% missing, was 0%")


@pytest.mark.parametrize("missing", ["ignore", "value"])
def test_a_missing_value_is_missing_whether_or_not_it_is_a_value(missing):
    rows = table(3)
    later = with_column(rows, "colour", [None if row % 5 == 0 else one for row, one in enumerate(rows["colour"])])
    (found,) = compare([monday(), fitted(later, missing=missing)]).moved
    assert found.sentence.startswith("20% missing, was 0%")


def test_shares_of_classes_are_told_apart_from_a_change_within():
    rows = table(3, 3000)
    kept = [row for row in range(3000) if rows["fruit"][row] != "plum" or row % 5 == 0]
    found = compare([fitted(table(0, 3000)), fitted(taken(rows, kept))])
    assert found.class_divergence.is_beyond_chance
    plum = next(one for one in found.classes if one.name == "plum")
    assert plum.after < plum.before / 2
    assert plum.rows_after == sum(rows["fruit"][row] == "plum" for row in kept)
    assert "size" in {column.column for column in found.moved}
    assert all(column.follows_classes for column in found.moved)
    assert "(as the classes did)" in str(found)


def test_what_a_column_says_of_the_classes_may_move_alone():
    rows = {"x": ["a", "a", "a", "b"] * 50 + ["b", "b", "b", "a"] * 50, "fruit": ["apple"] * 200 + ["pear"] * 200}
    later = {"x": rows["x"][::-1], "fruit": rows["fruit"]}
    (found,) = compare([fitted(rows), fitted(later)]).moved
    assert found.overall.bits == 0
    assert found.within.is_beyond_chance
    assert found.sentence == "in apple: b 75%, was 25%; a 25%, was 75%"


def test_a_new_class_is_told():
    rows = {"x": ["a", "b"] * 100, "fruit": ["apple", "pear"] * 100}
    found = compare([fitted(rows), fitted({"x": rows["x"] * 2, "fruit": [*rows["fruit"], *["plum"] * 200]})])
    plum = next(one for one in found.classes if one.name == "plum")
    assert (plum.rows_before, plum.rows_after, plum.before, plum.after) == (0, 200, 0.0, 0.5)
    assert found.class_divergence.is_beyond_chance


def test_times_are_told_as_times():
    rows = table(3)
    before, after = (
        fitted(with_column(rows, "day", pa.array([one + datetime.timedelta(days) for one in rows["day"]])))
        for days in (0, 100)
    )
    (found,) = compare([before, after]).moved
    assert found.column == "day"
    assert found.sentence.startswith("median 2024-")
    assert ", was 2024-" in found.sentence


def test_one_value_among_many_is_singled_out():
    rng = np.random.default_rng(0)
    names = [f"town {index}" for index in range(200)]
    rows = {"town": rng.choice(names, 2000).tolist(), "fruit": ["apple", "pear"] * 1000}
    later = {"town": [*rng.choice(names, 1950).tolist(), *["town 7"] * 50], "fruit": rows["fruit"]}
    (found,) = compare([fitted(rows), fitted(later)]).moved
    assert found.singled_out
    assert [change.name for change in found.changes] == ["town 7"]


def texts(extra: str, rows: int = 400) -> dict[str, list[str]]:
    rng = np.random.default_rng(len(extra))
    words = [f"word{index}" for index in range(60)]
    said = [" ".join([*rng.choice(words, 9), extra if row % 2 == 0 else "common"]) for row in range(rows)]
    return {"note": [*said], "fruit": ["apple", "pear"] * (rows // 2)}


def test_words_that_came_and_went_are_named_in_both_directions():
    plain = TextOptions()
    before, after = (fitted(texts(word), text={"note": plain}) for word in ("telegram", "newsletter"))
    (found,) = compare([before, after]).moved
    named = {change.name: change.after > change.before for change in found.changes}
    assert named == {"newsletter": True, "telegram": False}
    assert found.sentence.startswith("newsletter 5%, was 0%; telegram 0%, was 5%")


HALVES = slice(0, 600), slice(600, 1200)


def test_the_same_words_in_other_texts_have_not_drifted():
    halves = [{name: values[part] for name, values in texts("telegram", 1200).items()} for part in HALVES]
    before, after = (fitted(half, families={"note": "text"}) for half in halves)
    assert moved(before, after) == []


@pytest.mark.parametrize("family", ["gaussian", "poisson", "gaussian_shared", "histogram", "categorical"])
def test_families_given_by_hand_are_compared_by_what_they_keep(family):
    rows, other = table(0), table(3)
    before = fitted(rows, families={"visits": family})
    assert moved(before, fitted(other, families={"visits": family})) == []
    shifted = with_column(other, "visits", [one + 2 for one in other["visits"]])
    if family != "histogram":
        assert moved(before, fitted(shifted, families={"visits": family})) == ["visits"]
    assert moved(before, fitted(shifted)) == ["visits"]


def test_of_sums_the_mean_is_told():
    rows, other = table(0), table(3)
    later = with_column(other, "visits", [one + 2 if row % 4 else None for row, one in enumerate(other["visits"])])
    before, after = fitted(rows, families={"visits": "gaussian"}), fitted(later, families={"visits": "poisson"})
    (found,) = compare([before, after]).moved
    assert [change.what for change in found.changes] == ["missing", "mean", "deviation"]
    mean = found.changes[1]
    assert mean.before == pytest.approx(np.mean(rows["visits"]))
    assert mean.after == pytest.approx(np.mean([one for one in later["visits"] if one is not None]))


def test_truths_and_events_given_by_hand():
    rng = np.random.default_rng(0)
    rows = {"ripe": rng.integers(0, 2, 300).tolist(), "hens": rng.poisson(3, 300).tolist(),
            "eggs": rng.poisson(3, 300).tolist(), "fruit": ["apple", "pear"] * 150}  # fmt: skip
    families = {"ripe": "bernoulli", "hens": "multinomial", "eggs": "multinomial"}
    later = {**rows, "ripe": [1] * 300, "eggs": [3 * one for one in rows["eggs"]]}
    found = compare([fitted(rows, families=families), fitted(later, families=families)])
    assert {column.column for column in found.moved} == {"ripe", "hens, eggs"}
    assert found["ripe"].sentence.startswith("yes 100%, was ")
    assert {change.name for change in found["hens, eggs"].changes} == {"hens", "eggs"}


def test_what_cannot_be_compared_is_named_with_the_reason():
    rows = {"note": ["a b", "c d", "b c", "d a"] * 20, "x": [1.0, 2.0] * 40, "fruit": ["apple", "pear"] * 40}
    before = fitted(rows, families={"note": "text"})
    found = compare([before, fitted({**rows, "y": rows["x"]}, families={"note": "categorical"})])
    assert found.not_compared == (("note", "it is text before and categorical after, which count other things"),)
    assert found.only_after == ("y",)
    assert found.notes[1] == "Only the second has y."


def test_fractional_weights_and_estimators():
    rows = table(3)
    labels = rows.pop("fruit")
    del rows["day"]
    first = NaiveBayes(calibrate=False).fit(rows, labels, sample_weight=np.full(ROWS, 0.5))
    second = NaiveBayes(calibrate=False).fit(rows, labels)
    found = compare([first, second])
    assert found.rows == (ROWS / 2, ROWS)
    assert found.moved == ()


def test_a_model_without_rows_tells_nothing():
    rows = table(3)
    empty = replace(monday().trained, summary=monday().trained.summary - monday().trained.summary)
    found = drift_between(empty, fitted(rows).trained)
    assert found.moved == ()
    assert found.rows == (0, ROWS)


def test_the_result_is_plain_data():
    rows = table(3)
    later = fitted(with_column(rows, "size", [None if one is None else one + 2 for one in rows["size"]]))
    found = compare([monday(), later])
    told = json.loads(json.dumps(found.to_dict()))
    assert told["rows"] == [ROWS, ROWS]
    assert told["columns"][0]["column"] == "size"
    assert told["columns"][0]["moved"] is True
    assert told["columns"][0]["overall"]["bits"] > told["columns"][0]["overall"]["limit"]
    assert [one["name"] for one in told["classes"]] == ["apple", "pear", "plum"]
    assert "size" in str(found)
    assert "Not moved beyond chance: " in str(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("drift"), table(3)
    store.save(monday().trained, folder / "monday.candide")
    later = with_column(rows, "size", [None if one is None else one + 2 for one in rows["size"]])
    store.save(fitted(later).trained, folder / "tuesday.model")
    store.save(fit({"size": [1.0, 2.0], "kind": ["a", "b"]}, "kind").trained, folder / "kind.candide")
    return folder


def test_the_shell_shows_it(folder):
    done = commands.candide("compare", "monday.candide", "tuesday.model", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("From monday.candide (600 rows) to tuesday.model (600 rows)\n")
    assert "Columns that moved, the farthest first\ncolumn   bits  chance  within  chance  what moved\n" in done.stdout
    assert "Not moved beyond chance: " in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    same = commands.candide("compare", "monday.candide", "monday.candide", folder=folder)
    assert "Columns\nNot moved beyond chance: " in same.stdout


def test_the_shell_gives_json(folder):
    done = commands.candide("compare", "monday.candide", "tuesday.model", "--format", "json", folder=folder)
    found = compare([folder / "monday.candide", folder / "tuesday.model"])
    told = {**found.to_dict(), "names": ["monday.candide", "tuesday.model"]}
    assert json.loads(done.stdout) == json.loads(json.dumps(told))


def test_models_of_other_labels_are_refused(folder):
    with pytest.raises(SummariesDisagree, match=r"learned column 'fruit' and .* learned 'kind'") as raised:
        compare([folder / "monday.candide", folder / "kind.candide"])
    assert raised.value.where.column == "kind"
    assert raised.value.expected == "a model of column 'fruit'"
    done = commands.candide("compare", "monday.candide", "kind.candide", folder=folder)
    assert done.returncode == 2
    assert "learned column 'fruit'" in done.stderr


def test_models_with_nothing_in_common_are_refused():
    rows = {"x": ["a", "b"] * 20, "fruit": ["apple", "pear"] * 20}
    with pytest.raises(SummariesDisagree, match="'x' is only in the first, 'z' only in the second"):
        compare([fitted(rows), fitted({"z": rows["x"], "fruit": rows["fruit"]})])
    with pytest.raises(SummariesDisagree, match="of two kinds"):
        compare([fitted(rows), fitted({**rows, "fruit": [1, 2] * 20})])


@pytest.mark.parametrize(
    ("given_data", "options", "words"),
    [
        (1, {}, "but 1 was given. Give another one beside it."),
        (3, {}, "but 3 were given"),
        (2, {"label": "fruit"}, "label is for rows"),
        (2, {"where": "x = 1"}, "where is for rows"),
        (2, {"output": "a.svg"}, "output is for rows"),
    ],
)
def test_only_two_models_and_no_options_of_rows(given_data, options, words):
    with pytest.raises(OptionRefused, match=words):
        compare([monday()] * given_data, **options)


def test_two_models_side_by_side_are_sent_to_the_pair():
    with pytest.raises(OptionRefused, match=r"compare\(\[first, second\]\)"):
        compare(monday(), monday())
