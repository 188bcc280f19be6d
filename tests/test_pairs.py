"""Pairs of columns: exact like every tally, silent where they know nothing, and kept only where rows say so."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import NaiveBayes, load
from candide.api import verbs
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.families.base.block_rows import BlockRows
from candide.families.base.column_values import ColumnValues
from candide.families.base.family import Block
from candide.families.base.leave_one_out import ByRefitting
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.pair import Pair
from candide.kernels.pair_screening import pair_gains
from candide.kernels.pair_weighing import CELLS_AT_ONCE, weighed_loss
from candide.model.predictor import Predictor
from candide.model.summary import Summary
from candide.selection.find_pairs import best_step, gained_by_step
from candide.selection.leave_one_out import LeaveOneOut
from candide.selection.pair_bins import bins_of_columns, edges_of, groups_of
from candide.store import model_file
from candide.store.refusals import ModelFileRefused
from candide.stream.live_pairs import BinOfValue
from candide.training.merge import common_schema

COLOURS = ColumnBins("colour", groups=((("text", "red"),), (("text", "blue"), ("text", "teal"))))
SIZES = ColumnBins("size", edges=(1.0, 2.5))
SHAPES = ColumnBins("shape", groups=((("text", "round"),), (("text", "square"),)))
PAIR = Pair(first=COLOURS, second=SIZES)
BLOCK = Block(PAIR, PAIR.columns)
OF_THREE = Pair(first=SHAPES, second=COLOURS, third=SIZES)
WITH_AND_WITHOUT_A_THIRD = pytest.mark.parametrize("pair", [PAIR, OF_THREE], ids=["two", "three"])


def rows_of(seed: int, count: int) -> Batch:
    """Rows some of which lack a value, or hold one that has no bin."""
    rng = np.random.default_rng(seed)
    colours = rng.choice(["red", "blue", "teal", "pink", None], count, p=[0.4, 0.2, 0.2, 0.1, 0.1])
    sizes = np.where(rng.random(count) < 0.1, np.nan, rng.integers(0, 4, count) * 1.0)
    labels = rng.choice(["a", "b", "c"], count)
    weights = rng.integers(1, 3, count) if seed % 2 else None
    shapes = rng.choice(["round", "square", "oval", None], count, p=[0.5, 0.3, 0.1, 0.1])
    return Batch.of({"colour": colours.tolist(), "size": sizes, "shape": shapes.tolist()}, labels.tolist(), weights)


def slow_term(counts: np.ndarray, first: int, second: int, label: int, smoothing: float) -> float:
    """The logarithm of rows in the cell over rows that independent columns would have there, each share by itself."""
    if not counts[first, second].sum():
        return 0.0
    of_class = counts[:, :, label]
    rows, half = of_class.sum(), 0.5
    one = (of_class[first].sum() + half / len(of_class)) / (rows + half)
    other = (of_class[:, second].sum() + half / of_class.shape[1]) / (rows + half)
    return math.log(of_class[first, second] + smoothing) - math.log(rows * one * other + smoothing)


def slow_terms(counts: np.ndarray, first: int, second: int, pair: Pair) -> list[float]:
    """What a cell says of each class, so many times, no class further behind the best than its rows support."""
    labels = range(counts.shape[2])
    said = [pair.strength * slow_term(counts, first, second, label, pair.smoothing) for label in labels]
    return [max(one, *(other - math.log(counts[first, second].sum() + 1) - 4 for other in said)) for one in said]


@WITH_AND_WITHOUT_A_THIRD
@given(seed=st.integers(0, 50), count=st.integers(0, 40), strength=st.sampled_from([0.0, 0.7, 1.0, 5.0, 20.0]))
def test_each_cell_says_what_its_shares_say(pair, seed, count, strength):
    pair = replace(pair, strength=strength)
    seen = Summary.of((Block(pair, pair.columns),), rows_of(seed, count)).statistics[0]
    counts = seen.counts.reshape(pair.cells // 3, 3, seen.classes)
    fitted = pair.fit(seen, pair.columns).reshape(counts.shape)
    for first, second in np.ndindex(counts.shape[:2]):
        assert fitted[first, second] == pytest.approx(slow_terms(counts, first, second, pair), abs=1e-9)


def test_three_columns_are_counted_by_the_cell_of_all():
    rows = {"colour": ["red", "teal", None], "size": [0.0, 9.0, 1.0], "shape": ["round", "square", "round"]}
    assert OF_THREE.read(Batch.of(rows), OF_THREE.columns).tolist() == [0, (1 * 2 + 1) * 3 + 2, -1]
    assert OF_THREE.columns == ("shape", "colour", "size")
    assert OF_THREE.cells == 12


@given(st.integers(0, 50), st.integers(1, 30), st.integers(0, 30))
def test_tallies_of_pairs_add_and_subtract_exactly_in_any_order(seed, count, cut):
    rows = rows_of(seed, count)
    whole = Summary.of((BLOCK,), rows)
    order = np.random.default_rng(seed).permutation(count)
    assert Summary.of((BLOCK,), rows.take(order)) == whole
    first, second = (Summary.of((BLOCK,), part) for part in (rows.rows(0, min(cut, count)), rows.rows(cut, count)))
    assert first + second == whole
    assert (first + second) - second == first


@WITH_AND_WITHOUT_A_THIRD
@given(seed=st.integers(0, 50), count=st.integers(2, 30), strength=st.sampled_from([1.0, 20.0]))
def test_a_row_left_out_is_a_refit_without_it(pair, seed, count, strength):
    batch, pair = rows_of(seed, count), replace(pair, strength=strength)
    summary = Summary.of((Block(pair, pair.columns),), batch)
    labels = batch.labels.renumbered({key: index for index, key in enumerate(summary.classes)})
    weights = np.zeros(0, np.int64) if batch.weights is None else batch.weights
    rows = BlockRows.of(pair, pair.columns, batch, labels, weights)
    quick = pair.leave_one_out(summary.statistics[0], pair.columns).scores(rows)
    slow = ByRefitting(pair, summary.statistics[0], pair.columns).scores(rows)
    assert quick.score == pytest.approx(slow.score, abs=1e-9)
    assert not quick.log_likelihood.any()
    assert not slow.log_likelihood.any()


def test_what_was_never_seen_together_says_nothing_and_neither_does_independence():
    rows = {"colour": ["red"] * 40 + ["blue"] * 40, "size": ([0.0] * 20 + [1.5] * 20) * 2}
    model = Predictor.fit(Summary.of((BLOCK,), Batch.of(rows, ["a", "b"] * 40)))
    asked = Batch.of({"colour": ["red", "red", None, "pink"], "size": [0.0, 9.0, 0.0, 0.0]})
    said = np.zeros((4, 2))
    PAIR.score(model.parameters[0], PAIR.view(asked, PAIR.columns), said)
    assert said[0] == pytest.approx(0.0, abs=0.05)
    assert not said[1:].any()


def test_bins_take_numbers_and_values_of_one_column():
    mixed = ColumnBins("x", edges=(1.0,), groups=((("text", "many"),),))
    pair = Pair(first=mixed, second=SIZES)
    asked = Batch.of({"x": ["many", 0.5, 1.0, "few", None], "size": [0.0] * 5})
    assert pair.view(asked, pair.columns).tolist() == [6, 0, 3, -1, -1]
    values = ColumnBins("x", groups=((("missing", ""),), (("text", "few"),)))
    missing = Pair(first=values, second=SIZES, missing_is_value=True)
    assert missing.view(asked, pair.columns).tolist() == [-1, -1, -1, 3, 0]


def test_bins_hold_about_equal_rows_and_rare_values_share_one():
    numbers = np.random.default_rng(0).normal(size=1000)
    edges = edges_of(numbers, np.ones(1000), 5)
    assert np.bincount(np.searchsorted(edges, numbers, side="right")).tolist() == pytest.approx([200] * 5, abs=2)
    assert edges_of(numbers[::-1].copy(), np.ones(1000), 5) == edges
    assert edges_of(np.array([1.0, np.nan, 1.0]), np.ones(3), 5) == ()
    next_door = np.nextafter(1.0, 2.0)
    assert edges_of(np.array([1.0, next_door]), np.ones(2), 5) == (next_door,)
    coded = Batch.of({"x": [*"abcdefghijklmnop", *"abcdefghijk"]}).categories("x")
    groups = groups_of(coded, np.ones(len(coded)))
    assert [len(group) for group in groups] == [1] * 11 + [5]


def slow_gain(said: np.ndarray, labels: np.ndarray, weights: np.ndarray, chances: np.ndarray) -> float:
    """g^2 / 2h, g the slope of the log likelihood along what is said, h its curvature."""
    mean = (chances * said).sum(axis=1)
    slope = float(weights @ (said[np.arange(len(labels)), labels] - mean))
    bend = float(weights @ (chances * (said - mean[:, None]) ** 2).sum(axis=1))
    return slope**2 / (2 * bend) if slope > 0 and bend > 0 else 0.0


@pytest.mark.parametrize(("classes", "heaviest"), [(2, 1), (2, 2), (3, 1), (3, 2), (5, 1)])
def test_the_screen_is_one_newton_step_along_what_rows_left_out_say(classes, heaviest):
    rng = np.random.default_rng(1)
    bins, widths = rng.integers(-1, 3, (3, 80)).astype(np.int8), np.array([3, 3, 3])
    labels, weights = rng.integers(0, classes, 80), rng.integers(1, heaviest + 1, 80) * 1.0
    labels[bins[0] == bins[1]] = 1
    chances = rng.dirichlet(np.ones(classes), 80)
    pairs, gains = np.array([[0, 1], [0, 2], [1, 2]]), np.zeros(3)
    pair_gains(bins, widths, pairs, labels, weights, chances, PAIR.smoothing, gains)
    edges = (0.5, 1.5)
    for (one, other), gain in zip(pairs.tolist(), gains, strict=True):
        pair = Pair(first=ColumnBins("x", edges), second=ColumnBins("y", edges))
        columns = {"x": np.where(bins[one] < 0, np.nan, bins[one]), "y": np.where(bins[other] < 0, np.nan, bins[other])}
        batch = Batch.of(columns, labels, weights.astype(np.int64))
        seen = Summary.of((Block(pair, pair.columns),), batch).statistics[0]
        rows = BlockRows.of(pair, pair.columns, batch, labels, weights.astype(np.int64))
        said = pair.leave_one_out(seen, pair.columns).scores(rows).score
        assert gain == pytest.approx(slow_gain(said, labels, weights, chances), rel=1e-9)
    assert gains[0] > gains[1:].max()


@pytest.mark.parametrize("classes", [2, 3])
def test_the_loss_of_weights_has_the_slopes_and_curvature_that_differences_show(classes):
    rng = np.random.default_rng(2)
    rows = CELLS_AT_ONCE // classes + 9
    terms, start, at = rng.normal(size=(4, rows, classes)), rng.normal(size=(rows, classes)), rng.random(4)
    targets, weights = rng.dirichlet(np.ones(classes), rows), rng.random(rows)

    def loss(point):
        scores = start + np.tensordot(point, terms, 1)
        logs = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        return float(-(weights[:, None] * targets * logs).sum())

    def weighed(point, slope, roots, first=0, last=rows):
        flat = terms.reshape(4, -1), start.ravel(), targets.ravel()
        return weighed_loss(*flat, weights, point, (first, last), slope, roots)

    slope, roots, none = np.zeros(4), np.zeros((4, rows * classes if classes > 2 else rows)), np.zeros((0, 0))
    assert weighed(at, slope, roots) == pytest.approx(loss(at), rel=1e-12)
    step = 1e-5 * np.eye(4)
    assert slope == pytest.approx([(loss(at + one) - loss(at - one)) / 2e-5 for one in step], rel=1e-6)
    for index, one in enumerate(step):
        above, below = np.zeros(4), np.zeros(4)
        weighed(at + one, above, none)
        weighed(at - one, below, none)
        assert (roots @ roots.T)[index] == pytest.approx((above - below) / 2e-5, rel=1e-5, abs=1e-7)
    later = np.zeros((4, roots.shape[1] // rows * 7))
    weighed(at, slope, later, rows - 7, rows)
    assert later == pytest.approx(roots[:, -later.shape[1] :], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1])
def test_some_of_the_rows_are_asked_as_all_of_them_are(seed):
    batch, wanted = rows_of(seed, 200), np.array([3, 5, 8, 150])
    leaving = LeaveOneOut.of_labels(batch)
    nothing = leaving.left_out(())
    of_all, of_some = leaving.beside(nothing, (BLOCK,))[1], leaving.beside(nothing, (BLOCK,), wanted)[1]
    assert of_some.terms.tolist() == of_all.terms[:, wanted].tolist()
    assert of_some.labels.tolist() == of_all.labels[wanted].tolist()
    assert of_some.lengths.tolist() == of_all.lengths[:, wanted].tolist()


def test_no_step_is_taken_that_chance_explains():
    lucky, steady = np.zeros(100), np.full(100, 0.1)
    lucky[0] = 10.0
    assert best_step(np.stack([lucky])) == -1
    assert best_step(np.stack([steady])) == 0
    assert best_step(np.stack([steady, 2 * steady])) == 1
    assert best_step(np.stack([steady, steady])) == 0


def test_a_path_that_ended_stays_as_it_ended():
    one, two = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    assert gained_by_step([(one, 2 * one), (two,), ()], 2).tolist() == [[1.0, 2.0], [2.0, 2.0]]
    assert gained_by_step([(), ()], 2).sum() == 0.0


def titanic(rows: int = 500, seed: int = 0, noise: float = 0.1) -> dict[str, list]:
    """Women of the third class fare as men of the others do: neither column tells that alone."""
    rng = np.random.default_rng(seed)
    table = {"class": rng.integers(1, 4, rows).tolist(), "sex": rng.choice(["male", "female"], rows).tolist()}
    table["fare"] = rng.normal(size=rows).round(3).tolist()
    lives = (np.array(table["class"]) == 3) != (np.array(table["sex"]) == "female")
    table["survived"] = np.where(lives ^ (rng.random(rows) < noise), "yes", "no").tolist()
    return table


def without_label(table: dict[str, list]) -> dict[str, list]:
    return {name: values for name, values in table.items() if name != "survived"}


@pytest.fixture(scope="module")
def fitted() -> NaiveBayes:
    return NaiveBayes().fit(titanic(), "survived")


def test_a_pair_is_found_that_tells_what_no_column_tells(fitted):
    fresh = titanic(2000, seed=1)
    asked, labels = without_label(fresh), np.array(fresh["survived"])
    alone = NaiveBayes(dependence="none").fit(titanic(), "survived")
    assert [pair.columns for pair in fitted.schema_.pairs] == [("class", "sex")]
    assert alone.schema_.pairs == ()
    assert fitted.score(asked, labels) > 0.85 > 0.7 > alone.score(asked, labels)
    assert fitted.trained_.tuning.quality.accuracy == pytest.approx(fitted.score(asked, labels), abs=0.04)


def parity(rows: int = 400, seed: int = 0) -> dict[str, list]:
    """Whether an odd number of three switches are on, most of which are: no sum over two of them can tell."""
    rng = np.random.default_rng(seed)
    table = {name: (rng.random(rows) < 0.7).astype(int).tolist() for name in ("hall", "stairs", "attic", "idle")}
    is_lit = np.sum([table[name] for name in ("hall", "stairs", "attic")], axis=0) % 2 == 1
    return {**table, "survived": np.where(is_lit ^ (rng.random(rows) < 0.05), "yes", "no").tolist()}


@pytest.fixture(scope="module")
def fitted_to_three() -> NaiveBayes:
    return NaiveBayes().fit(parity(), "survived")


def test_a_pair_takes_in_a_third_column_where_only_three_tell(fitted_to_three):
    assert any({*pair.columns} == {"hall", "stairs", "attic"} for pair in fitted_to_three.schema_.pairs)
    fresh = parity(2000, seed=1)
    assert fitted_to_three.score(without_label(fresh), np.array(fresh["survived"])) > 0.93


@pytest.mark.parametrize("model", ["fitted", "fitted_to_three"])
def test_cards_tell_of_three_columns_as_of_two(model, request):
    found, table = request.getfixturevalue(model), {"fitted": titanic, "fitted_to_three": parity}[model]()
    looks, families = found.predictor_.pairs, {pair.columns: pair for pair in found.schema_.pairs}
    assert len(looks) == len(families)
    for look in looks:
        pair = families[tuple(part.column for part in look.parts)]
        cells = pair.read(Batch.of(table), pair.columns)
        counted = np.bincount(cells, minlength=pair.cells)
        assert look.counts.sum(axis=-1).ravel().tolist() == counted.tolist()
    cards = verbs.inspect(found)["pairs"]
    assert [card["columns"] for card in cards] == [[part.column for part in look.parts] for look in looks]
    for card, look in zip(cards, looks, strict=True):
        assert card["cells"][0]["values"] == look.values_shown(look.ranked[0])


def test_on_permuted_labels_no_pair_is_kept():
    for seed in range(6):
        table, rng = titanic(150, seed), np.random.default_rng(seed)
        table |= {f"n{index}": rng.normal(size=150).tolist() for index in range(6)}
        table["survived"] = rng.permutation(table["survived"]).tolist()
        assert NaiveBayes().fit(table, "survived").schema_.pairs == ()


def test_the_same_rows_in_any_order_keep_the_same_pairs(fitted):
    table, order = titanic(), np.random.default_rng(3).permutation(500)
    other = NaiveBayes().fit({name: [values[index] for index in order] for name, values in table.items()}, "survived")
    assert other.trained_ == fitted.trained_


def test_columns_that_were_named_do_not_pair():
    assert NaiveBayes({"sex": "categorical"}).fit(titanic(), "survived").schema_.pairs == ()
    assert NaiveBayes(calibrate=False).fit(titanic(), "survived").schema_.pairs == ()
    with pytest.raises(OptionRefused, match="dependence"):
        NaiveBayes(dependence="full").fit(titanic(), "survived")


def test_an_explanation_has_one_line_for_a_pair_and_adds_up(fitted):
    asked = without_label(titanic(40, seed=5))
    asked["sex"][3] = None
    found = fitted.explain(asked)
    together = [[term for term in why.terms if term.feature == "class and sex"] for why in found]
    assert [len(terms) for terms in together] == [0 if index == 3 else 1 for index in range(40)]
    assert together[0][0].value == f"{asked['class'][0]} and {asked['sex'][0]}"
    assert "and sex" in together[0][0].basis.text(found[0].classes)
    assert np.array([why.joint for why in found]) == pytest.approx(fitted.predict_joint_log_proba(asked), abs=1e-9)
    logs = np.log(fitted.predict_proba(asked))
    for why, log in zip(found, logs, strict=True):
        assert np.ptp(why.reported - log) < 1e-9


def rule(rows: int = 600) -> dict[str, list]:
    """Four columns of a rule: yes if the first two agree and the other two do not."""
    rng = np.random.default_rng(0)
    table = {name: rng.choice(["x", "y", "z"], rows).tolist() for name in "abcd"}
    pairs = zip(*table.values(), strict=True)
    return {**table, "survived": ["yes" if a == b and c != d else "no" for a, b, c, d in pairs]}


def test_no_cell_says_more_than_its_rows_support():
    model = NaiveBayes().fit(rule(), "survived")
    assert max(pair.strength for pair in model.schema_.pairs) > 2
    assert model.score(without_label(rule()), rule()["survived"]) > 0.99
    for look in model.trained_.predictor.pairs:
        supported = np.log(look.counts.sum(axis=2) + 1) + 4
        assert (np.ptp(look.evidence, axis=2) <= supported + 1e-9).all()
    asked = without_label(rule())
    alone = model.predict_proba_one({name: values[0] for name, values in asked.items()})
    assert [*alone.values()] == pytest.approx(model.predict_proba(asked)[0], abs=1e-9)


@pytest.mark.parametrize("model", ["fitted", "fitted_to_three"])
def test_learning_forgetting_streams_and_files_keep_pairs(model, request, tmp_path):
    fitted, rows_like = request.getfixturevalue(model), {"fitted": titanic, "fitted_to_three": parity}[model]
    fitted.save(tmp_path / "pairs.candide")
    again = load(tmp_path / "pairs.candide")
    assert again.trained_ == fitted.trained_
    more = rows_like(30, seed=7)
    again.learn(more, "survived")
    stream = load(tmp_path / "pairs.candide")
    rows = [dict(zip(more, values, strict=True)) for values in zip(*more.values(), strict=True)]
    for row in rows:
        stream.learn_one({name: value for name, value in row.items() if name != "survived"}, row["survived"])
    assert stream.trained_.summary == again.trained_.summary != fitted.trained_.summary
    asked = without_label(rows_like(1, seed=8))
    one = stream.predict_proba_one({name: values[0] for name, values in asked.items()})
    assert [*one.values()] == pytest.approx(again.predict_proba(asked)[0], abs=1e-9)
    for row in rows:
        stream.forget_one({name: value for name, value in row.items() if name != "survived"}, row["survived"])
    assert stream.trained_.summary == again.forget(more, "survived").trained_.summary == fitted.trained_.summary


@pytest.mark.parametrize("value", [1, 2.5, 1e300, -0.0, True, "red", "", b"raw", None, math.nan, date(2024, 5, 1)])
@pytest.mark.parametrize("missing_is_value", [False, True])
def test_a_stream_finds_the_bin_that_a_table_finds(value, missing_is_value):
    nothing = [(("missing", ""),)] if missing_is_value else []
    groups = ((("text", "red"),), (("truth", True), ("bytes", b"raw")), *nothing)
    bins = ColumnBins("x", edges=(0.0, 2.5, 1e9), groups=groups)
    table = ColumnValues.of(Batch.of({"x": [value]}), ("x",), missing_is_value).without_infinite()
    assert BinOfValue(bins)(value) == bins.codes(table, 0)[0]


def test_missing_values_that_count_are_streamed_as_learned():
    table = titanic(400)
    table["sex"] = [None if sex == "male" else sex for sex in table["sex"]]
    fit = [NaiveBayes(missing="value").fit(table, "survived") for _ in range(2)]
    assert [pair.columns for pair in fit[0].schema_.pairs] == [("class", "sex")]
    fit[0].learn_one({"fare": 0.5, "class": 3}, "yes")
    fit[1].learn({"fare": [0.5], "class": [3], "sex": [None]}, ["yes"])
    assert fit[0].trained_.summary == fit[1].trained_.summary


def test_a_column_that_is_forgotten_takes_its_pairs_along():
    table = titanic()
    model = NaiveBayes().fit(table, "survived")
    later = {**titanic(60, seed=9), "port": [*"abc"] * 20}
    model.learn(later, "survived").forget(later, "survived")
    assert len(model.schema_.pairs) == 1
    without = model.schema_.without({"sex"})
    assert without.pairs == ()
    assert {block.columns for block in without.blocks} <= {("class",), ("fare",), ("class", "fare"), ("port",)}


def test_of_merged_models_the_pairs_stay_that_both_counted_alike(fitted):
    like = NaiveBayes().fit(titanic(300, seed=10), "survived", like=fitted)
    both = fitted + like
    assert both.schema_.pairs == fitted.schema_.pairs
    assert both.trained_.summary == fitted.trained_.summary + like.trained_.summary
    stronger = tuple(replace(pair, strength=3.0) for pair in fitted.schema_.pairs)
    assert common_schema(fitted.schema_, replace(like.schema_, pairs=stronger)).pairs == fitted.schema_.pairs
    alone = verbs.fit(titanic(300, seed=10), "survived", dependence="none")
    merged = verbs.merge([verbs.fit(titanic(), "survived"), alone])
    assert merged.trained.schema.pairs == ()
    assert any("pairs" in note for note in merged.notes)
    merged.trained.predictor.reported(Batch.of(without_label(titanic(5))))


def test_rows_of_a_file_are_counted_whatever_its_size(fitted, tmp_path, monkeypatch):
    table, path = titanic(), tmp_path / "titanic.csv"
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines))
    assert verbs.fit(path, "survived").trained.schema.pairs == fitted.schema_.pairs
    (tally,) = verbs.fit(path, "survived").trained.summary.statistics[-1:]
    assert tally.counts.sum() == 500


def test_a_file_that_names_a_pair_of_strangers_is_refused(fitted):
    data = model_file.schema_data(fitted.schema_)
    assert model_file.read_schema(data) == fitted.schema_
    with pytest.raises(ModelFileRefused, match="pair"):
        model_file.read_schema({**data, "pairs": data["pairs"] * 2})
    with pytest.raises(ModelFileRefused, match="pair"):
        model_file.read_schema({**data, "pairs": [{**data["pairs"][0], "first": {"column": "port"}}]})


def test_inspect_tells_of_pairs(fitted):
    card = verbs.inspect(fitted)
    (pair,) = card["pairs"]
    assert pair["columns"] == ["class", "sex"]
    assert {tuple(cell["values"]) for cell in pair["cells"]} <= {
        (size, sex) for size in ("below 1.5", "1.5 to 2.5", "2.5 or more") for sex in ("male", "female")
    }
    assert "class and sex  pair" in fitted.schema_.explain()


def test_times_and_truths_pair_with_numbers():
    rng = np.random.default_rng(0)
    table = {"paid": (rng.random(300) < 0.5).tolist(), "size": rng.normal(size=300).tolist()}
    labels = [int(paid == (size > 0)) for paid, size in zip(table["paid"], table["size"], strict=True)]
    model = NaiveBayes().fit(table, labels)
    assert [pair.columns for pair in model.schema_.pairs] == [("paid", "size")]
    assert model.score(table, labels) > 0.8


def test_texts_and_constants_have_no_bins(fitted):
    rows = Batch.of(without_label(titanic(60)) | {"same": [1.0] * 60})
    schema = NaiveBayes().fit({**titanic(60), "same": [1.0] * 60}, "survived").schema_
    assert [bins.column for bins in bins_of_columns(schema, rows, np.ones(60), False)] == ["class", "sex", "fare"]


@given(data=st.data())
def test_a_class_that_no_row_has_changes_no_rank_of_pairs(data):
    """Two classes and three, whose rows are added up cell by cell, are ranked by as are four, row by row."""
    rows = data.draw(st.lists(st.tuples(*[st.integers(-1, 2)] * 3, st.integers(0, 1)), min_size=4, max_size=40))
    *bins, labels = np.ascontiguousarray(np.array(rows).T)
    chances = data.draw(st.lists(st.floats(0.01, 0.99), min_size=len(rows), max_size=len(rows)))
    weights = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))), dtype=float)
    pairs, gains = np.array([(0, 1), (0, 2), (1, 2)]), np.zeros((3, 3))
    for more, found in enumerate(gains):
        thought = np.stack([1 - np.array(chances), chances, *np.zeros((more, len(rows)))], axis=1)
        pair_gains(np.array(bins, np.int8), np.full(3, 3), pairs, labels, weights, thought, PAIR.smoothing, found)
    assert gains[0] == pytest.approx(gains[2], rel=1e-6, abs=1e-9)
    assert gains[1] == pytest.approx(gains[2], rel=1e-6, abs=1e-9)
