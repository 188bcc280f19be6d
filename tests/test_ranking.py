"""Receiver operating and precision-recall curves beside scikit-learn's; parts that add up to the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, fit
from candide.api import verbs
from candide.data.batch import Batch
from candide.data.grid import STEP
from candide.data.values import Coded
from candide.model.quality import Quality
from candide.model.ranking import CELLS, CURVES, POINTS, ClassRanking, log_odds, odds_cells
from candide.model.scoring import LabelledPosteriors, Score
from candide.sources import open_source

metrics = pytest.importorskip("sklearn.metrics")

ORCHARD = Path(__file__).parents[1] / "examples" / "orchard.csv"
TITANIC = Path(__file__).parents[2] / "shared" / "data" / "table" / "titanic3.csv"


def answers(rows: int, classes: int, seed: int = 0, weights=None) -> LabelledPosteriors:
    """Posteriors, and labels drawn from them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, (rows, classes))
    log_posterior = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    labels = np.array([rng.choice(classes, p=row) for row in np.exp(log_posterior)])
    keys = tuple(("number", label) for label in range(classes))
    weights = np.ones(rows, dtype=np.int64) if weights is None else weights
    return LabelledPosteriors(keys, log_posterior, Coded(labels, keys), labels, weights, np.arange(rows))


def some_rows(given: LabelledPosteriors, wanted) -> LabelledPosteriors:
    """Some of the rows."""
    return replace(
        given,
        log_posterior=given.log_posterior[wanted],
        truths=Coded(given.labels[wanted], given.classes),
        labels=given.labels[wanted],
        weights=given.weights[wanted],
        numbers=given.numbers[wanted],
    )


def found(*scores: Score):
    return sum(scores, Score()).evaluation("rows given", None, [key for score in scores for key in score.cells])


@pytest.mark.parametrize("classes", [2, 5])
def test_areas_are_scikit_learns(classes):
    given = answers(2000, classes)
    told = found(Score.of(given))
    assert len(told.ranking) == (1 if classes == 2 else classes)
    for one in told.ranking:
        own, chance = given.labels == int(one.name), given.log_posterior[:, int(one.name)]
        assert one.roc_area == pytest.approx(metrics.roc_auc_score(own, chance), abs=2e-4)
        assert one.average_precision == pytest.approx(metrics.average_precision_score(own, chance), abs=1e-3)
        assert one.share == own.mean()


@pytest.mark.parametrize("seed", range(3))
def test_ties_and_weights_count_as_scikit_learn_counts_them(seed):
    rng = np.random.default_rng(seed)
    cell, own, weights = rng.integers(0, 12, 80), rng.random(80) < 0.3, rng.integers(0, 5, 80)
    counts = np.zeros((2, 12), dtype=np.int64)
    np.add.at(counts, (own.astype(int), cell), weights)
    one = ClassRanking.of("a", counts[1], counts[0]).with_curve(counts[1], counts[0])
    expected = metrics.roc_auc_score(own, -cell, sample_weight=weights)
    assert one.roc_area == pytest.approx(expected, abs=STEP)
    expected = metrics.average_precision_score(own, -cell, sample_weight=weights)
    assert one.average_precision == pytest.approx(expected, abs=STEP)
    assert np.trapezoid(*one.roc.T[::-1]) == pytest.approx(one.roc_area, abs=STEP)


def test_the_area_is_off_by_no_more_than_half_of_the_tied_pairs():
    given = answers(500, 2, seed=1)
    given = replace(given, log_posterior=given.log_posterior.round(2))  # many next to each other, so many ties
    ((own, every),) = [Score.of(given).cells[given.classes[1]]]
    tied = float((own * (every - own)).sum() / own.sum() / (every - own).sum())
    true = metrics.roc_auc_score(given.labels, log_odds(given.log_posterior, np.exp(given.log_posterior))[:, 1])
    assert tied > 0
    assert abs(found(Score.of(given)).roc_area - true) <= tied / 2 + STEP


@pytest.mark.parametrize("weights", [None, np.tile([0.5, 1.25, 2.0], 100)], ids=["ones", "fractions"])
def test_parts_add_up_to_the_whole_in_any_order(weights):
    given = answers(300, 3, seed=2, weights=weights)
    order = np.random.default_rng(0).permutation(300)
    parts = [Score.of(some_rows(given, np.sort(part))) for part in np.array_split(order, 7)]
    assert found(*parts[::-1]).ranking == found(Score.of(given)).ranking


def test_where_a_class_was_unknown_it_was_the_least_probable():
    """As in a fold whose others do not have it: the same as if it had been known and impossible."""
    given = answers(200, 3, seed=3)
    first, rest = np.arange(100), np.arange(100, 200)
    known = Score.of(some_rows(given, rest))
    two = replace(some_rows(given, first), classes=given.classes[:2], log_posterior=given.log_posterior[first, :2])
    two = replace(two, labels=np.where(two.labels < 2, two.labels, -1))
    impossible = given.log_posterior[first].copy()
    impossible[:, 2] = -np.inf
    three = replace(some_rows(given, first), log_posterior=impossible)
    assert found(Score.of(two), known).ranking == found(Score.of(three), known).ranking


def test_log_odds_keep_their_digits_near_certainty():
    log_posterior = np.array([[-1e-30, np.log(1e-30)], [np.log(0.25), np.log(0.75)], [0.0, -np.inf]])
    odds = log_odds(log_posterior, np.exp(log_posterior))
    assert odds[0].tolist() == pytest.approx([-np.log(1e-30), np.log(1e-30)])
    assert odds[1].tolist() == pytest.approx([-np.log(3), np.log(3)])
    assert odds[2].tolist() == [np.inf, -np.inf]
    cells = odds_cells(np.array([np.inf, 40.0, 2.0, 1e-13, 0.0, -1e-13, -2.0, -np.inf]))
    assert cells.tolist() == sorted(cells.tolist())
    assert (cells[0], cells[-1], len(set(cells[3:6].tolist()))) == (0, CELLS - 1, 1)


def test_few_points_and_few_curves_are_kept():
    told = found(Score.of(answers(4000, 9, seed=4)))
    drawn = [one for one in told.ranking if one.curve]
    assert len(told.ranking) == 9
    assert {one.name for one in drawn} == {
        one.name for one in sorted(told.ranking, key=lambda one: one.roc_area)[:CURVES]
    }
    for one in drawn:
        assert len(one.curve) <= POINTS + 1
        assert one.curve[-1] == (one.rows, one.others)
        assert (np.diff(one.roc, axis=0) >= 0).all()
        assert np.trapezoid(*one.roc.T[::-1]) == pytest.approx(one.roc_area, abs=0.003)


def test_one_class_has_nothing_to_be_ranked_above():
    given = answers(50, 2)
    ones = some_rows(given, np.flatnonzero(given.labels == 1))
    told = found(Score.of(ones))
    assert (told.ranking, told.roc_area, told.average_precision) == ((), None, None)


ABSENT = pytest.mark.skipif(not TITANIC.exists(), reason="the real tables in ../shared/data are not here")


@pytest.mark.filterwarnings("ignore:Columns to look at twice")
@pytest.mark.parametrize(("path", "label"), [(ORCHARD, "fruit"), pytest.param(TITANIC, "survived", marks=ABSENT)])
def test_answers_to_real_rows_are_ranked_as_scikit_learn_says(path, label):
    (batch,) = open_source(path, label=label).batches()
    half = np.arange(len(batch)) % 2 == 0
    model = NaiveBayes(families="guess", calibrate=False)
    model.fit(frame_of(batch, half), labels_of(batch, half))
    rest, truth = frame_of(batch, ~half), labels_of(batch, ~half)
    chances, told = model.predict_log_proba(rest), model.evaluate(rest, truth)
    odds = np.clip(log_odds(chances, np.exp(chances)), -1e9, 1e9).round(9)
    for one in told.ranking:
        index = [str(name) for name in model.classes_].index(one.name)
        own = np.array([str(label) == one.name for label in truth])
        assert one.roc_area == pytest.approx(metrics.roc_auc_score(own, odds[:, index]), abs=1e-3)
        expected = metrics.average_precision_score(own, odds[:, index])
        assert one.average_precision == pytest.approx(expected, abs=2e-3)
    assert told.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(truth, model.predict(rest)))


def frame_of(batch: Batch, wanted) -> dict:
    """Some rows as columns."""
    some = batch.take(np.flatnonzero(wanted))
    return {name: some.columns.raw(index) for index, name in enumerate(some.names)}


def labels_of(batch: Batch, wanted) -> list:
    """Their labels."""
    return [batch.labels.keys[code][1] for code in batch.labels.codes[wanted].tolist()]


@pytest.fixture(scope="module")
def orchard():
    return fit(ORCHARD, "fruit")


def test_a_file_keeps_areas_and_curves_and_older_files_have_none(orchard):
    kept = orchard.trained.tuning.quality
    assert len(kept.ranking) == 4
    stored = kept.to_file()
    assert Quality.from_file(stored) == kept
    older = Quality.from_file({name: part for name, part in stored.items() if name != "ranking"})
    assert (older.ranking, older.roc_area) == ((), None)
    for broken in ([["apple", 0, 5, 0.5, 0.5, []]], [["apple", 5, 5, 0.5, 0.5, [[6, 0]]]], [["apple"]]):
        with pytest.raises((ValueError, TypeError)):
            Quality.from_file({**stored, "ranking": broken})


def test_rows_that_were_learned_are_called_that(orchard, tmp_path):
    found = verbs.evaluate(orchard, ORCHARD)
    assert found.kind == "rows given"
    assert found.notes[0].startswith("These are the rows that the model has learned")
    assert [advice.name for advice in found.notes[0].advice] == ["leave_one_out"]
    header, *lines = ORCHARD.read_text().splitlines()
    part, changed = tmp_path / "part.csv", tmp_path / "changed.csv"
    part.write_text("\n".join([header, *lines[:100]]))
    assert verbs.evaluate(orchard, part).notes == ()
    changed.write_text("\n".join([header, *lines]).replace("red", "green", 1))
    assert verbs.evaluate(orchard, changed).notes == ()


def test_a_ledger_knows_some_rows_and_a_name_makes_one_wonder(tmp_path):
    header, *lines = ORCHARD.read_text().splitlines()
    rows, other = tmp_path / "rows.csv", tmp_path / "other.csv"
    rows.write_text("\n".join([header, *lines[:200]]))
    other.write_text("\n".join([header, *lines[150:250]]))
    plain = {"families": "guess", "calibrate": False}
    known = fit(rows, "fruit", ledger=True, **plain)
    assert verbs.evaluate(known, other).notes[0].startswith("50 of these 100 rows are among those")
    other.write_text("\n".join([header, *lines[200:250]]))
    assert verbs.evaluate(known, other).notes == ()
    plainly = fit(rows, "fruit", **plain)
    rows.write_text("\n".join([header, *lines[:100]]))
    assert verbs.evaluate(plainly, rows).notes[0].startswith("The model has learned from a file of this name.")
    assert verbs.evaluate(plainly, other).notes == ()
