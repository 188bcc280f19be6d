"""Evaluation beside slow, obvious twins: refits without each row, scikit-learn's measures, and counting by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, engines, evaluation
from candide.api import verbs
from candide.api.verbs import reading
from candide.api.verbs.evaluating import is_model
from candide.data.batch import Batch
from candide.data.errors import CandideError, LabelsRefused, OptionRefused, RowsRefused
from candide.data.metrics import UNIT, units
from candide.evaluation import folds, leave_one_out
from candide.model.options import Options
from candide.selection import tune
from candide.selection.leave_one_out import LeaveOneOut
from candide.sources import open_source
from candide.training.fit import fit_rows

metrics = pytest.importorskip("sklearn.metrics")

ORCHARD = Path(__file__).parents[1] / "examples" / "orchard.csv"
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}


def orchard(rows: int = 120, seed: int = 0) -> tuple[dict[str, list], list[str]]:
    """Fruit that can mostly be told apart, with gaps."""
    rng = np.random.default_rng(seed)
    kinds = np.array(["apple", "pear", "quince"])[rng.integers(0, 3, rows)]
    weight = np.where(kinds == "quince", 250.0, np.where(kinds == "pear", 180.0, 160.0)) + rng.normal(0, 20, rows)
    colours = [("red" if kind == "apple" else "green") if rng.random() < 0.8 else "yellow" for kind in kinds]
    table = {
        "weight": [None if rng.random() < 0.1 else round(float(one), 1) for one in weight],
        "colour": colours,
        "spots": rng.poisson(np.where(kinds == "apple", 2, 5)).tolist(),
    }
    return table, kinds.tolist()


def without(table: dict[str, list], index: int) -> dict[str, list]:
    return {name: values[:index] + values[index + 1 :] for name, values in table.items()}


def one(table: dict[str, list], index: int) -> dict[str, list]:
    return {name: values[index : index + 1] for name, values in table.items()}


def refitted(table, labels, weights=None, **options):
    """The posterior of each row by a model that was fitted without it."""
    classes = sorted(set(labels))
    chances = np.zeros((len(labels), len(classes)))
    for index in range(len(labels)):
        others = None if weights is None else np.delete(weights, index)
        model = NaiveBayes(**options).fit(without(table, index), labels[:index] + labels[index + 1 :], others)
        where = [classes.index(label) for label in model.classes_]
        chances[index, where] = model.predict_proba(one(table, index))[0]
    return classes, chances


def fixed(table, labels) -> dict:
    """Options with every family fixed, so that a refit chooses nothing."""
    schema = NaiveBayes(**PLAIN).fit(table, labels).schema_
    return {**PLAIN, "families": {choice.column: choice.family for choice in schema.choices}}


def test_leave_one_out_is_refitting_without_each_row():
    table, labels = orchard(40)
    options = fixed(table, labels)
    classes, chances = refitted(table, labels, **options)
    found = NaiveBayes(**options).fit(table, labels).evaluate(table, labels, leave_one_out=True)
    answers = [classes[index] for index in chances.argmax(axis=1)]
    assert found.kind == "leave-one-out"
    assert found.accuracy == np.mean([answer == label for answer, label in zip(answers, labels, strict=True)])
    assert found.log_loss == pytest.approx(metrics.log_loss(labels, chances, labels=classes), abs=1e-9)
    assert found.confusion.tolist() == metrics.confusion_matrix(labels, answers).tolist()
    truth = np.array(labels)[:, None] == np.array(classes)
    assert found.brier == pytest.approx(((chances - truth) ** 2).sum(axis=1).mean(), abs=1e-9)


def test_leave_one_out_with_weights_is_refitting_too():
    table, labels = orchard(30)
    weights = np.random.default_rng(1).integers(1, 5, 30)
    options = fixed(table, labels)
    classes, chances = refitted(table, labels, weights, **options)
    model = NaiveBayes(**options).fit(table, labels, weights)
    found = model.evaluate(table, labels, leave_one_out=True, sample_weight=weights)
    expected = metrics.log_loss(labels, chances, labels=classes, sample_weight=weights)
    assert found.rows == weights.sum()
    assert found.log_loss == pytest.approx(expected, abs=1e-9)
    right = np.array([classes[index] for index in chances.argmax(axis=1)]) == labels
    assert found.accuracy == pytest.approx(weights[right].sum() / weights.sum())


def test_measures_of_new_rows_are_scikit_learns():
    table, labels = orchard(300)
    model = NaiveBayes().fit(table, labels)
    new, truth = orchard(200, seed=1)
    found, chances = model.evaluate(new, truth), model.predict_proba(new)
    answers = model.predict(new)
    assert found.kind == "rows given"
    assert found.accuracy == model.score(new, truth)
    assert found.log_loss == pytest.approx(metrics.log_loss(truth, chances), abs=1e-9)
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, answers, average="macro"))
    precision, recall, f1, rows = metrics.precision_recall_fscore_support(truth, answers)
    for index, score in enumerate(found.by_class.values()):
        expected = precision[index], recall[index], f1[index], rows[index]
        assert (score.precision, score.recall, score.f1, score.rows) == pytest.approx(expected)
    assert found.calibration_error == pytest.approx(calibration_error(chances, answers == np.array(truth)))


def calibration_error(chances, right) -> float:
    """Bin by bin, as it is told."""
    top, total = chances.max(axis=1), 0.0
    for low in range(15):
        here = (top >= low / 15) & ((top < (low + 1) / 15) | (low == 14))
        if here.any():
            total += here.mean() * abs(right[here].mean() - top[here].mean())
    return total


def test_brier_of_two_classes_is_scikit_learns():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 2, 200)
    X[y == 1] += 1
    model = NaiveBayes().fit(X, y)
    found = model.evaluate(X, y)
    assert found.brier == pytest.approx(metrics.brier_score_loss(y, model.predict_proba(X)[:, 1]))


def test_reliability_counts_every_row_once():
    table, labels = orchard(300)
    found = NaiveBayes().fit(table, labels).evaluate(table, labels, leave_one_out=True)
    assert len(found.reliability) == 15
    assert sum(part.rows for part in found.reliability) == 300
    assert sum(part.right for part in found.reliability) == found.right
    for part in found.reliability:
        if part.rows:
            assert part.low <= part.probability <= part.high


def test_a_flipped_label_is_found():
    table, labels = orchard(200)
    index = labels.index("quince")
    table["weight"][index], table["colour"][index] = 255.0, "green"
    labels[index] = "apple"
    model = NaiveBayes().fit(table, labels)
    found = model.evaluate(table, labels, leave_one_out=True)
    first = found.suspicious[0]
    assert (first.row, first.label, first.answer) == (index + 1, "apple", "quince")
    assert first.label_probability < 0.1 * first.answer_probability
    assert list(found.suspicious) == sorted(found.suspicious)


def test_suspects_are_cut_off_and_are_the_least_probable():
    table, labels = orchard(300)
    labels = ["apple" if index % 5 == 0 else label for index, label in enumerate(labels)]
    learned = fit_rows(Options(**PLAIN), Batch.of(table, labels))
    many = evaluation.left_out(learned, [Batch.of(table, labels)], suspects=300).suspicious
    few = evaluation.left_out(learned, [Batch.of(table, labels)], suspects=7).suspicious
    assert len(many) > 7
    assert few == many[:7]


def test_a_class_of_one_row_vanishes_and_counts_as_wrong():
    table, labels = orchard(30)
    labels[3] = "medlar"
    options = fixed(table, labels)
    model = NaiveBayes(**options).fit(table, labels)
    found = model.evaluate(table, labels, leave_one_out=True)
    classes, chances = refitted(table, labels, **options)
    own = chances[np.arange(30), [classes.index(label) for label in labels]]
    assert own[3] == 0
    own[3] = 1 / 31
    assert found.log_loss == pytest.approx(-np.log(own).mean(), abs=1e-9)
    assert found.by_class["medlar"].right == 0
    assert found.unknown == ("medlar",)
    assert found.notes == (
        "Class 'medlar' has only one row. Without it nothing is known of the class, so the row counts as wrong.",
    )
    assert 4 not in {row.row for row in found.suspicious}


def test_one_row_alone_cannot_be_judged():
    with pytest.warns(UserWarning, match="only one class"):
        model = NaiveBayes().fit({"x": [1.0]}, ["a"])
    with pytest.raises(RowsRefused, match="only one row"):
        model.evaluate({"x": [1.0]}, ["a"], leave_one_out=True)


def test_rows_that_were_never_learned_cannot_be_left_out():
    table, labels = orchard(60)
    model = NaiveBayes(**PLAIN).fit(table, labels)
    with pytest.raises(RowsRefused, match="Only rows that were learned can be left out"):
        model.evaluate({**table, "colour": ["blue"] * 60}, labels, leave_one_out=True)
    with pytest.raises(RowsRefused, match="'medlar' was never learned"):
        model.evaluate(table, ["medlar"] * 60, leave_one_out=True)


def test_a_row_twice_is_a_row_of_weight_two():
    table, labels = orchard(100)
    new, truth = orchard(50, seed=2)
    model = NaiveBayes().fit(table, labels)
    weights = np.arange(50) % 3
    again = np.repeat(np.arange(50), weights)
    repeated = {name: [values[index] for index in again] for name, values in new.items()}
    weighed = model.evaluate(new, truth, sample_weight=weights)
    listed = model.evaluate(repeated, [truth[index] for index in again])
    assert same_numbers(weighed) == same_numbers(listed)
    halves, all_rows = model.evaluate(new, truth, sample_weight=np.full(50, 0.5)), model.evaluate(new, truth)
    assert (halves.rows, halves.accuracy, halves.log_loss) == (25, all_rows.accuracy, all_rows.log_loss)
    assert (2 * halves.confusion == all_rows.confusion).all()


def same_numbers(found: evaluation.Evaluation) -> dict:
    """All that does not name rows."""
    return {name: value for name, value in found.to_dict().items() if name != "suspicious"}


@pytest.mark.parametrize("options", [Options(), Options("guess", "default", calibrate=False)])
def test_many_batches_are_one_batch_in_bits(options):
    batch = Batch.of(*orchard(500))
    learned = fit_rows(options, batch)
    whole = evaluation.left_out(learned, [batch])
    assert evaluation.left_out(learned, batch.split(7)).to_dict() == whole.to_dict()
    new = Batch.of(*orchard(200, seed=1))
    whole = evaluation.on_rows(learned.predictor, [new], engines.named())
    assert evaluation.on_rows(learned.predictor, new.split(7), engines.named()).to_dict() == whole.to_dict()


def test_rows_are_dealt_alike_where_processors_round_differently():
    table, labels = orchard()
    learned = fit_rows(Options(), Batch.of(table, labels))
    left = LeaveOneOut.of(learned.reading, Batch.of(table, labels)).left_out()
    nudged = replace(left, terms=np.nextafter(left.terms, np.inf), prior=np.nextafter(left.prior, -np.inf))
    assert leave_one_out.hashes(left).tolist() == leave_one_out.hashes(nudged).tolist()
    assert len(set(leave_one_out.hashes(left).tolist())) > 100


def test_any_order_of_rows_gives_the_same_bits():
    batch = Batch.of(*orchard(300))
    learned = fit_rows(Options(), batch)
    order = np.random.default_rng(0).permutation(300)
    here, there = (evaluation.left_out(learned, [rows]) for rows in (batch, batch.take(order)))
    assert same_numbers(here) == same_numbers(there)
    assert [order[row.row - 1] + 1 for row in there.suspicious] == [row.row for row in here.suspicious]


def test_too_many_rows_are_judged_by_the_models_own_calibration(monkeypatch):
    batch = Batch.of(*orchard(300))
    learned = fit_rows(Options(), batch)
    in_folds = evaluation.left_out(learned, [batch])
    monkeypatch.setattr(leave_one_out, "MOST_ROWS", 200)
    own = evaluation.left_out(learned, batch.split(90))
    assert len(in_folds.notes) == 1
    assert "the model's own calibration judged them" in own.notes[1]
    assert own.log_loss == pytest.approx(in_folds.log_loss, abs=0.02)


def test_few_rows_of_many_are_judged_by_the_models_own_calibration():
    batch = Batch.of(*orchard(300))
    learned = fit_rows(Options(), batch)
    found = evaluation.left_out(learned, [batch.rows(10, 10 + tune.FEWEST_ROWS - 1)])
    assert found.rows == tune.FEWEST_ROWS - 1
    assert "too few" in found.notes[1]


def test_a_calibration_without_its_tenth_cannot_see_it():
    """Labels that say nothing: a calibration may not look better on left-out rows than always guessing the prior."""
    rng = np.random.default_rng(5)
    batch = Batch.of(rng.normal(size=(400, 8)), rng.integers(0, 2, 400))
    found = evaluation.left_out(fit_rows(Options("gaussian", "default"), batch), [batch])
    assert found.log_loss > math.log(2) - 0.003


def test_a_seed_without_folds_is_refused():
    rows = {"x": ["a", "b"] * 10, "y": [0, 1] * 10}
    with pytest.raises(OptionRefused, match="none were asked for"):
        verbs.evaluate(rows, label="y", seed=1)


def test_folds_have_their_share_of_every_class_and_follow_the_rows():
    table, labels = orchard(300)
    batch = Batch.of({**table, "tree": list(range(300))}, labels)  # no two rows are equal
    fold = folds.folds_of(batch, 5)
    assert np.bincount(fold).tolist() == [60] * 5
    by_class = np.array([np.bincount(fold[batch.labels.codes == code], minlength=5) for code in range(3)])
    assert (np.ptp(by_class, axis=1) <= 1).all()
    order = np.random.default_rng(0).permutation(300)
    assert folds.folds_of(batch.take(order), 5).tolist() == fold[order].tolist()
    assert folds.folds_of(batch, 5, seed=1).tolist() != fold.tolist()


def test_folds_are_fits_on_the_other_folds():
    table, labels = orchard(90)
    batch = Batch.of(table, labels)
    fold = folds.folds_of(batch, 3)
    loss = 0.0
    for index in range(3):
        train, test = np.flatnonzero(fold != index), np.flatnonzero(fold == index)
        learned = fit_rows(Options(), batch.take(train))
        model = NaiveBayes.of(learned)
        own = [list(model.classes_).index(labels[row]) for row in test]
        new = {name: [values[row] for row in test] for name, values in table.items()}
        loss -= np.log(model.predict_proba(new)[np.arange(len(test)), own]).sum()
    found = NaiveBayes().evaluate(table, labels, folds=3)
    assert found.kind == "3-fold"
    assert found.rows == 90
    assert found.log_loss == pytest.approx(loss / 90, abs=1e-9)
    assert NaiveBayes().evaluate(table, labels, folds=3).to_dict() == found.to_dict()


def test_as_many_folds_as_rows_are_leave_one_out():
    table, labels = orchard(24)
    labels[3] = "medlar"
    options = fixed(table, labels)
    left = NaiveBayes(**options).fit(table, labels).evaluate(table, labels, leave_one_out=True)
    folded = NaiveBayes(**options).evaluate(table, labels, folds=24)
    assert folded.confusion.tolist() == left.confusion.tolist()
    assert folded.log_loss == pytest.approx(left.log_loss, abs=1e-9)
    assert folded.unknown == left.unknown == ("medlar",)
    assert "Class 'medlar' has rows in one fold only" in folded.notes[0]


@pytest.mark.parametrize("folds", [0, 1, 25, 2.5])
def test_folds_that_make_no_sense_are_refused(folds):
    with pytest.raises(OptionRefused, match="from 2 to the number of rows"):
        NaiveBayes().evaluate(*orchard(24), folds=folds)


def test_the_label_column_may_be_known_by_name():
    table, labels = orchard(60)
    rows = {**table, "fruit": labels}
    model = NaiveBayes().fit(rows, "fruit")
    assert model.evaluate(rows).to_dict() == model.evaluate(rows, "fruit").to_dict()
    assert model.evaluate(rows).label == model.evaluate(table, labels).label == "fruit"
    assert model.evaluate(rows, leave_one_out=True).accuracy > 0.7
    with pytest.raises(LabelsRefused, match="requires y"):
        NaiveBayes().fit(table, labels).evaluate(table)
    with pytest.raises(OptionRefused, match="two ways"):
        model.evaluate(rows, leave_one_out=True, folds=3)


def test_priors_changed_after_learning_count():
    table, labels = orchard(100)
    model = NaiveBayes(**PLAIN).fit(table, labels)
    before = model.evaluate(table, labels, leave_one_out=True)
    model.set_params(priors={"apple": 0.98, "pear": 0.01, "quince": 0.01})
    after = model.evaluate(table, labels, leave_one_out=True)
    assert after.by_class["apple"].answered > before.by_class["apple"].answered
    assert model.evaluate(table, labels).by_class["apple"].answered > before.by_class["apple"].answered


def test_text_is_left_out_too():
    texts = ["win a prize now", "a prize for you", "win win win", "see you at noon", "noon is fine", "you at noon"]
    labels = ["spam"] * 3 + ["ham"] * 3
    options = {**PLAIN, "families": "text"}
    _, chances = refitted({"text": texts}, labels, **options)
    found = NaiveBayes(**options).fit(texts, labels).evaluate(texts, labels, leave_one_out=True)
    own = chances[np.arange(6), [1, 1, 1, 0, 0, 0]]
    assert found.log_loss == pytest.approx(-np.log(own).mean(), abs=1e-9)


def test_arrays_and_sparse_matrices():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (80, 6)), rng.integers(0, 2, 80)
    model = NaiveBayes(families="multinomial", smoothing=1.0, calibrate=False).fit(sparse.csr_array(X), y)
    found = model.evaluate(sparse.csr_array(X), y, leave_one_out=True)
    assert found.to_dict() == model.evaluate(X, y, leave_one_out=True).to_dict()
    with pytest.raises(RowsRefused, match="expecting 6 features"):
        model.evaluate(X[:, :5], y)


def test_columns_the_model_does_not_know_are_left_aside():
    table, labels = orchard(60)
    model = NaiveBayes().fit(table, labels)
    wider = {**table, "note": ["x"] * 60}
    expected = model.evaluate(table, labels, leave_one_out=True).to_dict()
    assert model.evaluate(wider, labels, leave_one_out=True).to_dict() == expected


def test_labels_that_only_read_like_a_class_are_strangers():
    model = NaiveBayes(**PLAIN).fit({"x": ["a", "a", "b", "b"]}, [0, 0, 1, 1])
    found = model.evaluate({"x": ["a", "b"]}, ["0", "1"])
    assert found.right == 0
    assert found.unknown == ("0 (text)", "1 (text)")
    assert found.classes == ("0 (number)", "1 (number)")


def test_everything_survives_json():
    table, labels = orchard(200)
    labels[0] = "medlar"
    found = NaiveBayes().fit(table, labels).evaluate(table, labels, leave_one_out=True)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert found.to_dict()["suspicious"][0]["row"] == found.suspicious[0].row


def test_people_can_read_it():
    table, labels = orchard(200)
    rows = {**table, "fruit": labels}
    found = NaiveBayes().fit(rows, "fruit").evaluate(rows, leave_one_out=True)
    said = str(replace(found, notes=("something to know",)))
    headline = f"{found.accuracy:.1%} of 200 rows are right (leave-one-out)"
    for words in (headline, "log loss", "fruit", "quince", "note: something"):
        assert words in said
    assert all(line == line.rstrip() for line in said.splitlines())


def test_equal_evaluations_are_equal():
    table, labels = orchard(60)
    model = NaiveBayes(**PLAIN).fit(table, labels)
    assert model.evaluate(table, labels) == model.evaluate(table, labels)
    assert model.evaluate(table, labels) != model.evaluate(table, labels, leave_one_out=True)


def test_no_rows_are_refused():
    table, labels = orchard(60)
    learned = fit_rows(Options(), Batch.of(table, labels))
    for judge in (
        lambda: evaluation.on_rows(learned.predictor, [], engines.named()),
        lambda: evaluation.left_out(learned, []),
    ):
        with pytest.raises(RowsRefused, match="not a single row to judge"):
            judge()


def test_heavy_rows_do_not_overflow():
    values, weights = np.array([36.0, 0.5]), np.array([2.0**40, 3.0])
    assert units(values, weights) / UNIT == 36 * 2**40 + 1.5


def test_a_file_needs_no_test_set():
    found = verbs.evaluate(ORCHARD, label="fruit")
    assert (found.kind, found.label, found.rows) == ("cross-fitted", "fruit", 600)
    assert found.accuracy > 0.85
    assert all(1 <= row.row <= 600 for row in found.suspicious)


def test_a_file_in_parts_is_judged_as_a_whole(monkeypatch):
    whole = verbs.evaluate(ORCHARD, label="fruit", families="guess")
    monkeypatch.setattr(reading, "ROWS_TO_LOOK_AT", 100)
    parts = verbs.evaluate(ORCHARD, label="fruit", families="guess")
    assert parts.rows == whole.rows == 600
    assert parts.accuracy == pytest.approx(whole.accuracy, abs=0.03)


def test_a_model_judges_the_rows_it_learned():
    (batch,) = open_source(ORCHARD, label="fruit").batches()
    fitted = verbs.Fitted(fit_rows(Options(), batch, label="fruit"))
    left = verbs.evaluate(fitted, ORCHARD, leave_one_out=True)
    anew = verbs.evaluate(ORCHARD, label="fruit")
    assert (left.kind, anew.kind) == ("leave-one-out", "cross-fitted")
    assert left.suspicious == anew.suspicious
    assert "chosen from these rows" in left.notes[0]
    assert not anew.notes
    with pytest.raises(CandideError, match="keeps no rows"):
        verbs.evaluate(fitted)
    with pytest.raises(OptionRefused, match="takes rows and their label column, and no model"):
        verbs.evaluate(fitted, ORCHARD, folds=3)
    with pytest.raises(OptionRefused, match="has chosen already"):
        verbs.evaluate(fitted, ORCHARD, families={"spots": "ignore"})
    with pytest.raises(OptionRefused, match="two ways"):
        verbs.evaluate(fitted, ORCHARD, leave_one_out=True, folds=3)


def test_rows_need_a_label():
    with pytest.raises(LabelsRefused, match="label="):
        verbs.evaluate(ORCHARD)


def test_a_model_is_known_by_its_name_or_its_first_bytes(tmp_path):
    model = NaiveBayes(**PLAIN).fit({"x": ["a", "b"]}, ["p", "q"])
    model.save(tmp_path / "m.candide")
    (tmp_path / "renamed").write_bytes((tmp_path / "m.candide").read_bytes())
    assert is_model(model)
    assert is_model(str(tmp_path / "m.candide"))
    assert is_model(tmp_path / "renamed")
    assert not is_model(ORCHARD)
    assert not is_model("-")
    assert not is_model({"x": [1]})
    assert not is_model(NaiveBayes())
