"""After learning: calibrate on leave-one-out scores, and note how familiar rows usually are and how well it all did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from candide import engines
from candide.data.batch import Batch
from candide.data.metrics import mean_loss
from candide.data.progress import Size, Watch, unwatched
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.families.pairs.pair import Pair
from candide.model.calibration import Calibration
from candide.model.evaluation import Evaluation
from candide.model.options import Options
from candide.model.quality import Point, Quality
from candide.model.reading import read_as
from candide.model.row_sample import row_hashes
from candide.model.schema import AUTO
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.model.tuning import UNTUNED, Tuning
from candide.selection.few_rows import leaves_all_open, usual_calibration
from candide.selection.find_pairs import NO_PAIRS, Finder, find_pairs
from candide.selection.fit_calibration import Calibrating
from candide.selection.fit_novelty import novelty_of
from candide.selection.fold_choices import SAME_RECIPES, Dealing, FoldChoices
from candide.selection.judging import OTHER_DEALS, Judging, under_choices
from candide.selection.layer_start import LayerStart
from candide.selection.leaks import Leak, leaks
from candide.selection.learning_curve import learning_curve
from candide.selection.leave_one_out import LeaveOneOut, LeftOut
from candide.selection.linear_layer import LayerTrial, readings_of, refined_layer, refuse_no_texts
from candide.selection.read_off import FEWEST_ROWS
from candide.selection.table_layer import table_layer
from candide.selection.wide_tables import MOST_COLUMNS

FEWEST_A_CLASS, FEWEST_OF_A_CLASS = 10, 8
"""So many different rows of a table for each class, or so many of every class, tell how far to trust evidence."""

MOST_ROWS, ROWS_OF_TEXTS, ROWS_A_CLASS = 20_000, 5000, 100
CELLS = 10_000_000
"""At most so many rows, of texts alone so many and so many a class, and (row, class, block) cells are looked at."""

STEPS = 400_000_000
"""And so many (row, block, block) steps, which the curvature of a calibration takes: in tables that are long and wide
there are rows enough for every weight before that."""


class Tuned(NamedTuple):
    """What left-out rows teach: the tuning, columns that give the label away, and how well such rows were judged."""

    tuning: Tuning = UNTUNED
    leaks: Sequence[Leak] = ()
    judged: Evaluation | None = None
    pairs: tuple[Pair, ...] = ()


def tune(
    trained: TrainedModel,
    rows: Batch,
    choices: FoldChoices,
    engine: Engine,
    watch: Watch = unwatched,
    dealt: Dealing | None = None,
) -> Tuned:
    """What leave-one-out scores of these rows teach, and which columns they show to give the label away.

    Nothing where rows are few or classes one.
    """
    summary, options = trained.reading, trained.options
    if not can_be_calibrated(summary, rows, options):
        usual = usual_calibration(summary, options)
        return Tuned() if usual is None else Tuned(Tuning(usual, rows=summary.rows))
    everyone = rows if rows.readings is not None else rows.read_once()
    rows, by_everyone = everyone.rows(0, affordable(summary, len(rows))), choices
    with watch("Leaving rows out", Size(None, "rows")):
        judging, left = left_out_under(choices, trained, rows, everyone, engine)
        leaving, choices, calibrating = judging.leaving, judging.choices, judging.calibrating
    with watch("Calibrating", Size(None, "steps")):
        others = (left_out_under(dealt(deal), trained, rows, everyone, engine) for deal in OTHER_DEALS) if dealt else ()
        silenced = judging.silence if not judging.trusts(left, others) else None
        calibration = silenced or calibrating.calibration.silenced(choices.silent_blocks(trained.schema))
    pairs = finder = None
    if options.dependence == AUTO and silenced is None:
        with watch("Pairing columns", Size(None, "columns")):
            finder = Finder.of(leaving, left, summary.blocks, trained.schema, options.missing == "value")
            finder = finder.among_loudest(calibration)
            pairs = find_pairs(finder, calibration, judging.calibrations, engines.engine_of(trained))
    kept, layer = NO_PAIRS if pairs is None else pairs.kept, None
    if silenced is None and (readings := refined_readings(summary, options, len(rows))):
        with watch("Refining texts", Size(None, "rows")):
            weighed = kept.calibration(calibration)
            begin, by = layer_start(trained, judging, left, everyone, by_everyone, weighed, kept.blocks)
            layer = refined_layer(LayerTrial.of(begin, by.folds, readings), engine, must_pay=options.refine == AUTO)
    if finder is not None and layer is None and len(trained.schema.choices) <= MOST_COLUMNS:
        with watch("Weighing products", Size(None, "columns")):
            layer = table_layer(finder, judging.scores(left, pairs), judging.choices.folds, judging.engine)
    with watch("Judging", Size(None, "rows")):
        told, novelty = leaks(summary, left), novelty_of(summary.blocks, left, [rows])
        prior = choices.priors(leaving, options.priors, options.class_weight)
        asked_for = replace(left, prior=prior if layer is None else prior + layer.said[: len(prior)])
        judged = judging.evaluation(asked_for, silenced, pairs)
        wider, left = replace(leaving, summary=summary).beside(left, kept.blocks)
        own = replace(leaving.with_everyone if of_texts(summary) else leaving, summary=wider.summary)
        calibration = kept.calibration(calibration)
        curve = learning_curve(own, calibration, engine, options.priors, options.class_weight)
        measured = quality(wider.summary, left, judged, curve)
        found = None if layer is None else layer.layer
        if found is not None and found.table is not None:
            calibration = calibration.scaled(found.table.beside)
        return Tuned(Tuning(calibration, novelty, measured, summary.rows, found), told, judged, kept.pairs)


def refined_readings(summary: Summary, options: Options, rows: int) -> tuple[Block, ...]:
    """What a linear layer is asked to weigh; few rows tell nothing of weights."""
    readings = readings_of(summary.blocks) if options.refine != "none" else ()
    if options.refine == "linear":
        refuse_no_texts(readings)
    return readings if rows >= FEWEST_ROWS else ()


def layer_start(
    trained: TrainedModel,
    judging: Judging,
    left: LeftOut,
    everyone: Batch,
    choices: FoldChoices,
    calibration: Calibration,
    pairs: Sequence[Block],
) -> tuple[LayerStart, FoldChoices]:
    """What is said of rows before a layer is fitted on it, and their folds: of all rows where texts alone speak."""
    summary, leaving = trained.reading, replace(judging.leaving, summary=trained.reading)
    if not of_texts(summary) or len(everyone) == len(left.labels):
        leaving, left = leaving.beside(left, pairs)
        return LayerStart(leaving, left, calibration, (*summary.blocks, *pairs)), judging.choices
    leaving = LeaveOneOut.of(summary, everyone, everyone=leaving.everyone)
    left = under_choices(leaving, choices, trained.schema, summary.blocks, judging.engine)
    return LayerStart(leaving, left, calibration, summary.blocks), choices


def left_out_under(
    choices: FoldChoices, trained: TrainedModel, rows: Batch, everyone: Batch, engine: Engine
) -> tuple[Judging, LeftOut]:
    """What is said of each row without it, under choices of which its fold had no part; and how to judge by it."""
    summary, choices = trained.reading, choices.rows(slice(0, len(rows)))
    asked = choices.asked(trained.schema)
    reading = read_as(trained.summary, asked, trained.schema.remembered)
    leaving = LeaveOneOut.of(reading, rows, everyone=everyone if weigh_alike(summary, everyone) else None)
    if leaving.everyone is None:  # what others would read of rows that are not at hand was never counted
        choices = replace(choices, recipes=SAME_RECIPES)
    left = under_choices(leaving, choices, trained.schema, asked, engine, expected=trained.schema.blocks)
    calibrating = Calibrating.of(left, summary.classes, summary.blocks)
    return Judging(summary, trained.schema, leaving, choices, engine, calibrating), left


def can_be_calibrated(summary: Summary, rows: Batch, options: Options) -> bool:
    """Whether rows are enough to calibrate on; few must be different, since weights could stand for the others.

    Few texts are calibrated where their recipe was left to us and half of them have another of their class.
    """
    if len(summary.classes) < 2 or not summary.blocks:
        return False
    if len(rows) >= FEWEST_ROWS or summary.counts.min() >= FEWEST_OF_A_CLASS:
        return True
    if any(block.family.has_length for block in summary.blocks):
        in_company = summary.counts[summary.counts > 1].sum()
        return leaves_all_open(options, summary) and bool(2 * in_company >= summary.rows)
    return len(np.unique(row_hashes(rows))) >= FEWEST_A_CLASS * len(summary.classes)


def weigh_alike(summary: Summary, rows: Batch) -> bool:
    """Whether rows, all of which the summary has learned, are all that it has learned."""
    alone = Summary.of((), rows)
    return alone.classes == summary.classes and alone.weighed == summary.weighed


def of_texts(summary: Summary) -> bool:
    """Whether texts alone speak, which have few numbers to calibrate but the biases of classes."""
    return all(block.family.has_recipe for block in summary.blocks)


def affordable(summary: Summary, rows: int) -> int:
    """How many of the rows, which are as good as shuffled, fit the budget."""
    classes, blocks = len(summary.classes), len(summary.blocks)
    enough = max(ROWS_OF_TEXTS, ROWS_A_CLASS * classes) if of_texts(summary) else MOST_ROWS
    return min(rows, max(FEWEST_ROWS, min(enough, MOST_ROWS, CELLS // (classes * blocks), STEPS // blocks**2)))


def quality(summary: Summary, rows: LeftOut, found: Evaluation, curve: tuple[Point, ...]) -> Quality:
    """What a model keeps of how well it did."""
    raw = rows.posterior(None, summary.classes, summary.blocks)
    last = Point(summary.rows, found.rows, found.accuracy, found.log_loss)
    return Quality.of(found, mean_loss(raw, rows.labels, rows.weights), (*curve, last))
