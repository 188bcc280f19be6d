"""A linear layer on tables: found to the least loss, kept beside the counts, in every face, and explained exactly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from scipy.optimize import minimize

import candide
from candide import NaiveBayes
from candide.api import verbs
from candide.data.batch import Batch
from candide.families.base.column_values import ColumnValues
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.column_scale import ColumnScale
from candide.families.pairs.linear_table import TABLE_UNITS
from candide.kernels.table_products import OF_PRODUCTS, add_feature_products, credit_columns, shorten_rows
from candide.model.predictor import normalised
from candide.selection import table_layer
from candide.selection.table_layer import LESS, TableTrial, along_axes, scale_of, shares_of_length
from candide.store.model_file import canonical_bytes, from_bytes, to_bytes
from candide.store.refusals import ModelFileRefused
from candide.training.traces import without_traces


def rows_that_count(rows: int, seed: int = 7) -> tuple[dict[str, list], list[str]]:
    """Whether exactly two of five answers are yes, and a number lies in the middle: no column tells much by itself."""
    random = np.random.default_rng(seed)
    answers = random.random((rows, 5)) < 0.4
    number = random.normal(0, 1, rows)
    told = (answers.sum(axis=1) == 2) == (random.random(rows) < 0.95)
    columns = {f"answer {index}": np.where(answers[:, index], "yes", "no").tolist() for index in range(5)}
    return {**columns, "size": number.tolist()}, np.where(told, "two", "other").tolist()


@pytest.fixture(scope="module")
def rows() -> tuple[dict[str, list], list[str]]:
    return rows_that_count(300)


@pytest.fixture(scope="module")
def model(rows: tuple[dict[str, list], list[str]]) -> NaiveBayes:
    return NaiveBayes().fit(*rows)


def slow_products(features: np.ndarray, columns: int, weights: np.ndarray) -> np.ndarray:
    """What features and products of two add, each row in turn."""
    said = []
    for row in features:
        share = (row**2).sum() / columns
        factor = 1 / max(1.0, np.sqrt((1 - OF_PRODUCTS) * share + OF_PRODUCTS * share**2))
        products = [row[one] * row[other] for one in range(len(row)) for other in range(one, len(row))]
        said.append(factor * np.concatenate([row, products]) @ weights)
    return np.array(said)


def test_kernels_do_what_their_twin_does() -> None:
    random = np.random.default_rng(1)
    features, weights = random.normal(0, 1.5, (20, 4)), random.normal(0, 1, (14, 3))
    features[random.random(features.shape) < 0.2] = 0.0
    said, factors = np.zeros((20, 3)), np.empty(20)
    add_feature_products(features, 3, weights, said)
    np.testing.assert_allclose(said, slow_products(features, 3, weights), atol=1e-12)
    shorten_rows(features, 3, factors)
    assert factors.max() == 1.0
    assert factors.min() < 1.0
    owners = np.array([0, 0, 1, 2])
    for row, factor, whole in zip(features, factors, said, strict=True):
        credit = np.zeros((3, 3))
        credit_columns(row, factor, owners, weights, credit)
        np.testing.assert_allclose(credit.sum(axis=0), whole, atol=1e-12)


@pytest.mark.parametrize(("rows", "width"), [(40, 3), (12, 6)])
def test_axes_have_the_products_of_rows(rows: int, width: int) -> None:
    features, factors = np.random.default_rng(rows).normal(0, 1, (rows, width)), np.empty(rows)
    shorten_rows(features, width, factors)
    along, spread = along_axes(features, factors, width)
    (of_one, of_two), inner = shares_of_length(width), features @ features.T
    wanted = (of_one * inner + of_two * inner**2) * factors[:, None] * factors
    np.testing.assert_allclose(along @ along.T, wanted, atol=1e-5)
    np.testing.assert_allclose(along.T @ along, np.diag(spread), atol=1e-9)
    assert np.diag(wanted).max() < 1 + 1e-9


@pytest.mark.parametrize(("classes", "strength"), [(2, 1.0), (3, 0.1)])
def test_steps_lead_to_the_least_loss(classes: int, strength: float) -> None:
    random = np.random.default_rng(classes)
    features, factors = random.normal(0, 1, (60, 3)), np.empty(60)
    shorten_rows(features, 3, factors)
    along, spread = along_axes(features, factors, 3)
    start, labels = random.normal(0, 1, (60, classes)), random.integers(0, classes, 60)
    weights, prior = random.integers(1, 3, 60).astype(float), np.zeros((60, classes))
    scales = tuple(ColumnScale(ColumnBins(name), (0.0, 1.0), (0.0, 1.0)) for name in "abc")
    trial = TableTrial(scales, features, factors, along, spread, start, prior, labels, weights, [])
    found = trial.fitted(np.arange(60), 0.5, strength, trial.nothing, 1e-9)
    own = np.eye(classes)[labels]

    def loss(flat: np.ndarray) -> float:
        added = flat.reshape(found.shape)
        chances = normalised(0.5 * start + along @ added, start[0])
        return float(-(weights[:, None] * own * np.log(chances)).sum() + strength / 2 * (added**2).sum())

    least = minimize(loss, np.zeros(found.size), method="BFGS", options={"gtol": 1e-5})
    assert loss(found.ravel()) < least.fun + 1e-6
    said = np.zeros((60, classes))
    add_feature_products(features, 3, trial.terms(found), said)
    np.testing.assert_allclose(said, along @ found, atol=1e-6)


def test_a_column_is_read_by_rank_or_by_which_value_it_is() -> None:
    numbers = np.random.default_rng(2).lognormal(0, 2, 500)
    batch = Batch.of({"size": [*numbers, None], "kind": [*(["a", "b", "b", "c", "c"] * 100), None]})
    values = ColumnValues.of(batch, ("size",), False)
    scale = scale_of(ColumnBins("size", edges=(1.0, 2.0)), values, np.ones(501))
    read = scale.features(values, 0)[:, 0]
    assert read[-1] == 0.0
    assert abs(read[:-1].mean()) < 0.02
    assert abs(read[:-1].std() - 1) < 0.05
    assert (np.diff(read[:-1][np.argsort(numbers)]) >= 0).all()
    assert scale.at(float(numbers[0]))[0] == read[0]
    bins = ColumnBins("kind", groups=tuple((("text", name),) for name in "abc"))
    kinds = ColumnValues.of(batch, ("kind",), False)
    of_kinds = scale_of(bins, kinds, np.ones(501))
    np.testing.assert_allclose(of_kinds.shares, (0.2, 0.4, 0.4), atol=1e-6)
    np.testing.assert_allclose(of_kinds.features(kinds, 0).mean(axis=0), 0, atol=1e-5)
    np.testing.assert_array_equal(of_kinds.features(kinds, 0)[1], of_kinds.at("b"))


def test_what_many_columns_tell_together_is_heard(model: NaiveBayes, rows) -> None:
    new, labels = rows_that_count(1000, seed=8)
    alone = NaiveBayes(dependence="none").fit(*rows)
    right = [float(np.mean(one.predict(new) == np.array(labels))) for one in (alone, model)]
    assert right[1] > right[0] + 0.1
    tuning = model.trained_.tuning
    assert alone.trained_.tuning.layer is None
    assert tuning.layer is not None
    assert tuning.quality is not None
    assert abs(tuning.quality.accuracy - right[1]) < 0.05


def test_on_permuted_labels_there_is_no_layer(rows) -> None:
    for seed in range(4):
        labels = np.random.default_rng(seed).permutation(rows[1])
        assert NaiveBayes().fit(rows[0], labels).trained_.tuning.layer is None


def test_columns_are_not_picked_by_the_rows_that_judge() -> None:
    random = np.random.default_rng(1)
    labels = random.integers(0, 2, 150)
    values = random.normal(0, 1, (150, 300))
    values[:, :2] += labels[:, None]
    assert NaiveBayes().fit(values, labels).trained_.tuning.layer is None


def test_what_some_rows_say_does_not_overrule_the_counts_of_all(rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_layer, "WORK", 3000)
    assert table_layer.rows_affordable(300, 6, 2) < 150
    assert NaiveBayes().fit(*rows).trained_.tuning.layer is None


def test_numbers_of_rows_without_weight_leave_no_trace(rows) -> None:
    columns, labels = rows
    weights = np.ones(len(labels))
    weights[[int(np.argmin(columns["size"])), int(np.argmax(columns["size"]))]] = 0
    kept = np.flatnonzero(weights)
    weighed = NaiveBayes().fit(columns, labels, sample_weight=weights)
    others = NaiveBayes().fit(
        {name: [cells[at] for at in kept] for name, cells in columns.items()}, [labels[at] for at in kept]
    )
    assert [scale.knots for scale in weighed.trained_.tuning.layer.table.scales] == [
        scale.knots for scale in others.trained_.tuning.layer.table.scales
    ]


def test_times_beside_categories_are_explained_as_they_are_written() -> None:
    columns, labels = rows_that_count(400)
    days = np.random.default_rng(3).integers(0, 20_000, 400)
    columns["when"] = [datetime(2020, 1, 1) + timedelta(hours=int(day)) for day in days]
    timed = NaiveBayes().fit(columns, labels)
    assert timed.trained_.tuning.layer is not None
    terms = {
        term.feature: term.value
        for term in timed.explain({name: cells[:1] for name, cells in columns.items()})[0].terms
    }
    assert terms["size with others"] == terms["size"]
    assert terms["answer 0 with others"] == columns["answer 0"][0]
    assert terms.get("when with others", "2020").startswith("202")


def test_rows_in_another_order_give_the_same_file(model: NaiveBayes, rows) -> None:
    turned = NaiveBayes().fit({name: cells[::-1] for name, cells in rows[0].items()}, rows[1][::-1])
    assert canonical_bytes(turned.trained_) == canonical_bytes(model.trained_)


def test_a_file_keeps_the_layer(model: NaiveBayes, rows) -> None:
    again = from_bytes(to_bytes(model.trained_))
    assert again == model.trained_
    some = Batch.of(rows[0])
    np.testing.assert_array_equal(again.predictor.reported(some), model.trained_.predictor.reported(some))


def test_a_file_whose_layer_reads_columns_in_no_way_is_refused(model: NaiveBayes) -> None:
    trained, layer = model.trained_, model.trained_.tuning.layer
    table = layer.table
    numbers = next(index for index, scale in enumerate(table.scales) if scale.knots)
    falling = replace(table.scales[numbers], knots=table.scales[numbers].knots[::-1])
    scales = (*table.scales[:numbers], falling, *table.scales[numbers + 1 :])
    steep = replace(table.scales[numbers], knots=(0.0, 5e-324, 1.0), scores=(0.0, 1e300, 1.0))
    alike = replace(table.scales[0], bins=replace(table.scales[0].bins, groups=((("text", ["b"]),), (("text", "c"),))))
    unnamed = replace(table.scales[0], bins=replace(table.scales[0].bins, column=5))
    every = [replace(table, scales=(one, *table.scales[1:])) for one in (alike, unnamed, table.scales[1])]
    every += [replace(table, scales=(*table.scales[:numbers], steep, *table.scales[numbers + 1 :]))]
    every += [replace(table, scales=scales), replace(table, beside=2.0), replace(table, units=table.units[1:])]
    nobody = replace(layer, classes=(), table=replace(table, units=table.units[:, :0]))
    for broken in [
        *(replace(layer, table=one) for one in every),
        nobody,
        replace(layer, classes=layer.classes[:1] * 2),
    ]:
        with pytest.raises(ModelFileRefused):
            from_bytes(to_bytes(replace(trained, tuning=replace(trained.tuning, layer=broken))))


def test_explanations_add_up_to_what_is_predicted(model: NaiveBayes, rows) -> None:
    some = {name: [*cells[:5], None] for name, cells in rows[0].items()}
    posterior = model.predict_proba(some)
    for why, chances in zip(model.explain(some), posterior, strict=True):
        total = why.reported_prior + why.bias + sum(term.reported for term in why.terms)
        behind = total - total.max()
        np.testing.assert_allclose(np.exp(behind) / np.exp(behind).sum(), chances, atol=1e-9)
    assert any(term.feature == "answer 0 with others" for term in model.explain(some)[0].terms)
    nothing = model.predict_proba({name: [None] for name in rows[0]})[0]
    np.testing.assert_allclose(nothing, np.exp(model.trained_.predictor.log_prior), atol=1e-12)


def test_the_raw_score_is_that_of_naive_bayes_and_its_pairs(model: NaiveBayes, rows) -> None:
    some = Batch.of({name: cells[:20] for name, cells in rows[0].items()})
    predictor = model.trained_.predictor
    assert predictor.layer
    raw = np.tile(predictor.log_prior, (20, 1))
    for block, parameters in zip(predictor.blocks, predictor.parameters, strict=True):
        block.family.score(parameters, block.family.view(some, block.columns), raw)
    np.testing.assert_allclose(predictor.joint(some), raw, atol=1e-12)


def test_a_stream_answers_alike_and_learning_and_forgetting_keep_the_layer(rows) -> None:
    live = NaiveBayes().fit(*rows)
    layer = live.trained_.tuning.layer
    for index in range(8):
        row = {name: cells[index] for name, cells in rows[0].items()}
        chances, one = live.predict_proba({name: [cell] for name, cell in row.items()})[0], live.predict_proba_one(row)
        assert all(abs(one[name] - chance) < 1e-9 for name, chance in zip(live.classes_, chances, strict=True))
    first = {name: cells[0] for name, cells in rows[0].items()}
    before = live.predict_proba_one(first)
    live.learn_one(first, "new").forget_one(first, "new")
    assert live.predict_proba_one(first) == before
    live.learn_one(first, rows[1][0])
    assert live.trained_.tuning.layer == layer
    assert candide.inspect(live)["layer"]["rows"] != candide.inspect(live)["rows"]


def test_a_column_that_is_gone_takes_its_weights_along(model: NaiveBayes) -> None:
    table = model.trained_.tuning.layer.table
    kept = [name for name in table.columns if name != "answer 2"]
    fewer = table.only(kept)
    assert list(fewer.columns) == kept
    width = sum(scale.width for scale in fewer.scales)
    assert fewer.units.shape == (width * (width + 3) // 2, 2)
    assert table.only(table.columns) == table
    assert model.trained_.tuning.layer.only((), model.trained_.summary.classes).table is None
    places = np.array([2, 0])
    again = table.relabelled(places, 3)
    np.testing.assert_array_equal(again[:, places] * TABLE_UNITS, table.units)
    assert not again[:, 1].any()


def test_once_all_its_columns_are_gone_nothing_is_left_of_a_layer(model: NaiveBayes) -> None:
    trained = model.trained_
    layer = trained.tuning.layer
    tuning = replace(trained.tuning, layer=replace(layer, table=replace(layer.table, beside=LESS)))
    left = without_traces(tuning, trained.schema.blocks, (), trained.summary.classes)
    assert left.layer is None
    one = next(block for block in trained.schema.blocks if block.columns == ("size",) or "size" in block.columns)
    beside = replace(layer, table=layer.table.only([name for name in layer.table.columns if name not in one.columns]))
    tuning = replace(tuning, layer=replace(beside, table=replace(beside.table, beside=LESS)))
    left = without_traces(tuning, trained.schema.blocks, (one,), trained.summary.classes)
    assert left.calibration.weight[one.key] == tuning.calibration_alone.weight[one.key]


def test_cards_tell_of_the_layer(model: NaiveBayes, rows) -> None:
    card = candide.inspect(model)["layer"]
    assert card["table"]["columns"] == list(rows[0])
    assert card["table"]["beside"] in (1.0, LESS)


def test_rows_left_out_are_judged_without_the_layer(model: NaiveBayes, rows) -> None:
    judged = verbs.evaluate(model, {**rows[0], "told": rows[1]}, label="told", leave_one_out=True)
    assert any("linear layer" in note for note in judged.notes)
