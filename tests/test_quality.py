"""What a model keeps of how well it did: measured in `fit`, written in its file, never made up."""

import json
from functools import partial

import numpy as np
import pytest

from candide import NaiveBayes, engines, evaluation, store
from candide.api import verbs
from candide.data.batch import Batch
from candide.data.grid import STEP
from candide.families.words.options import TextOptions
from candide.model.options import Options
from candide.model.quality import Quality
from candide.selection import learning_curve, tune
from candide.selection.leave_one_out import LeaveOneOut
from candide.training.fit import fit_rows
from candide.training.forget import forget_rows
from candide.training.learn import learn_rows
from candide.training.refill import refilled


def flowers(rows, seed=0):
    rng = np.random.default_rng(seed)
    kind = rng.choice(["iris", "rose"], rows, p=[0.3, 0.7])
    height = rng.normal(np.where(kind == "iris", 60, 50), 8)
    colour = np.where(rng.random(rows) < np.where(kind == "iris", 0.8, 0.3), "blue", "red")
    return Batch.of({"height": height, "colour": colour}, kind)


@pytest.fixture(scope="module")
def learned():
    return fit_rows(Options(), flowers(400))


def test_it_is_what_evaluate_tells_of_the_same_rows(learned):
    """Each row judged by choices and a calibration made without its fold; on the grid, and without single rows."""
    rows = flowers(400)
    table = {name: rows.columns.raw(rows.position(name)) for name in rows.names}
    labels = [rows.labels.keys[code][1] for code in rows.labels.codes]
    found, kept = verbs.evaluate({**table, "kind": labels}, label="kind"), learned.tuning.quality
    assert found.kind == kept.kind == "cross-fitted"
    assert np.array_equal(found.confusion, kept.confusion)
    assert kept.log_loss == pytest.approx(found.log_loss, abs=STEP)
    assert kept.suspicious == ()


def texts(rows, halves=2, seed=0):
    rng = np.random.default_rng(seed)
    kind, words = rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2]), np.array([f"w{index}" for index in range(60)])
    chances = {label: rng.dirichlet(np.full(60, 0.3)) for label in "abc"}
    found = [" ".join(rng.choice(words, rng.integers(0, 12), p=chances[label])) for label in kind]
    found = [f"{text} only{row} only{row}" if row % 3 else text for row, text in enumerate(found)]
    return Batch.of({"text": [None, *found[1:]]}, kind, rng.integers(0, 4, rows) / halves)


OF_TEXTS = [
    TextOptions(),
    TextOptions(model="complement", weighting="unit"),
    TextOptions(model="bernoulli", weighting="presence"),
    TextOptions(model="poisson"),
    TextOptions(weighting="log", idf=True, min_count=2),
    TextOptions(hashed=8),
    TextOptions(shortest=2, ngrams=2, stop_words=3),
]
LEARNED = {
    "flowers": (Options(), flowers),
    **{str(recipe): (Options(text=recipe, smoothing=1.0), texts) for recipe in OF_TEXTS},
    **{f"whole {recipe}": (Options(text=recipe), partial(texts, halves=1)) for recipe in OF_TEXTS[:4]},
}


@pytest.mark.parametrize(("options", "draw"), LEARNED.values(), ids=LEARNED)
def test_each_point_of_the_curve_is_a_model_of_its_own_rows(options, draw):
    """The slow twin: learn so many rows with the same choices, and judge the rows that come after all points."""
    rows = draw(400)
    model = fit_rows(options, rows)
    order = np.argsort(learning_curve.mix_all(np.arange(400, dtype=np.uint64)))
    found = learning_curve.learning_curve(
        LeaveOneOut.of(model.reading, rows), model.tuning.calibration, engines.named()
    )
    assert [point.rows for point in found] == [25, 50, 100, 200]
    for point in found:
        some = refilled(model, [rows.take(order[: point.rows])])
        judged = evaluation.on_rows(some.predictor, [rows.take(order[200:])], engines.named())
        assert point.judged == judged.rows
        assert point.accuracy == judged.accuracy
        assert point.log_loss == pytest.approx(judged.log_loss, abs=1e-9)


def test_the_last_point_is_all_rows_each_left_out(learned):
    last = learned.tuning.quality.curve[-1]
    assert (last.rows, last.judged) == (400, 400)
    assert (last.accuracy, last.log_loss) == (learned.tuning.quality.accuracy, learned.tuning.quality.log_loss)


def test_rows_in_any_order_give_equal_quality(learned):
    order = np.random.default_rng(1).permutation(400)
    assert fit_rows(Options(), flowers(400).take(order)).tuning.quality == learned.tuning.quality


def test_a_file_keeps_it(learned, tmp_path):
    store.save(learned, tmp_path / "m.candide")
    assert store.load(tmp_path / "m.candide").tuning.quality == learned.tuning.quality


@pytest.mark.parametrize(
    "damage",
    [
        {"bins": []},
        {"pairs": [[0, 9, 1]]},
        {"pairs": [[0, 0, -1]]},
        {"pairs": [[-1, 0, 1]]},
        {"pairs": 7},
        {"log_loss": "low"},
        {"curve": [[1, 2]]},
        {"classes": None},
    ],
)
def test_a_file_that_lies_about_it_is_refused(learned, damage):
    broken = {**learned.tuning.quality.to_file(), **damage}
    with pytest.raises((ValueError, TypeError, LookupError)):
        Quality.from_file(json.loads(json.dumps(broken)))


def test_learning_more_keeps_what_was_measured_and_forgetting_does_not(learned):
    more = learn_rows(learned, [flowers(50, seed=2)])
    assert more.tuning.quality is learned.tuning.quality
    assert forget_rows(more, [flowers(50, seed=2)]).tuning.quality is None


def test_other_rows_by_the_same_choices_were_not_measured(learned):
    assert refilled(learned, [flowers(100, seed=3)]).tuning.quality is None
    first = verbs.fit({"x": ["a", "b"] * 40, "y": [0, 1] * 40}, "y")
    assert verbs.fit({"x": ["a", "b"] * 40, "y": [0, 1] * 40}, like=first).trained.tuning.quality is None


def test_nothing_is_measured_where_nothing_is_calibrated():
    rows = flowers(100)
    assert fit_rows(Options(calibrate=False), rows).tuning.quality is None
    assert NaiveBayes().partial_fit({"x": ["a", "b"] * 50}, ["iris", "rose"] * 50).trained_.tuning.quality is None


def test_a_sorted_file_is_calibrated_on_all_of_its_classes(learned, monkeypatch):
    """Rows used to be the first ones: of a file sorted by label, all of one class."""
    monkeypatch.setattr(tune, "MOST_ROWS", 60)
    rows = flowers(400)
    by_label = rows.take(np.argsort(rows.labels.codes, kind="stable"))
    trained = fit_rows(Options(), by_label)
    assert trained.tuning.quality.rows == 60
    assert trained.tuning == fit_rows(Options(), rows).tuning
    assert trained.tuning.quality.confusion.sum(axis=1).min() > 5
