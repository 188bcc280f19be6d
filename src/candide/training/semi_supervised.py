"""Fit with rows of which only some have a label: the others take part by EM, as far as labelled ones gain by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from candide import engines
from candide.data.advice import UseVerb
from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.errors import LabelsRefused
from candide.data.joined import joined_batches
from candide.data.progress import Size, Watch, unwatched
from candide.data.values import Coded, Key
from candide.model.evaluation import CROSS_FITTED, Evaluation
from candide.model.expected import Expected
from candide.model.options import Options
from candide.model.row_sample import Reservoir, canonical_rows, picked
from candide.model.schema import Schema
from candide.model.scoring import Score
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.model.tuning import Tuning
from candide.selection.em import Mixture, shared_out
from candide.selection.fit_novelty import novelty_of
from candide.selection.leave_one_out import LeaveOneOut, known_labels
from candide.selection.scored_rows import scored_without, weights_of
from candide.selection.tune import affordable, can_be_calibrated, quality
from candide.selection.unlabelled import WeightTrial, WeightTrials, expected_shares
from candide.training.fit import Batches, Judged, learned_and_judged


def fit_in_part(
    options: Options, sample: Batch, batches: Batches | None, label: str | None, watch: Watch = unwatched
) -> Judged:
    """Learn the rows that have a label, then let the others take part: all of them, or 50,000 picked by content."""
    rows, others = with_labels(sample), without_labels(sample)
    if not len(rows):
        raise LabelsRefused(
            "Not one of these rows has a label.",
            advice=("Give some of them one, or let groups be found with ", UseVerb("cluster"), "."),
            expected="a label in some rows",
        )
    refuse_unreadable(options.choose(rows), sample)
    if batches is None:
        trained, judged = learned_and_judged(options, rows, None, label, watch)
    else:
        known = partial(labelled_or_not, with_labels, batches)
        trained, judged = learned_and_judged(options, rows, known, label, watch)
        reservoir = Reservoir()
        for _ in reservoir.watched(labelled_or_not(without_labels, batches)):
            pass
        others = reservoir.rows() if reservoir.seen else others
    if not len(others):
        return trained, judged
    model, anew = with_unlabelled(trained, rows, others, watch)
    return model, anew or judged


def refuse_unreadable(schema: Schema, rows: Batch) -> None:
    """Raise where a family that was given by hand cannot take a value of some row, with a label or without."""
    complete = rows.with_missing(schema.columns)
    for block in schema.memory_blocks:
        block.family.read(complete, block.columns)


def with_labels(batch: Batch) -> Batch:
    """The rows that have a label."""
    assert batch.labels is not None
    there = batch.labels.codes >= 0
    return batch if there.all() else batch.take(np.flatnonzero(there))


def without_labels(batch: Batch) -> Batch:
    """The rows that have none."""
    assert batch.labels is not None
    return replace(batch.take(np.flatnonzero(batch.labels.codes < 0)), labels=None)


def labelled_or_not(part: Callable[[Batch], Batch], batches: Batches) -> Iterator[Batch]:
    """A part of each batch, where there are such rows."""
    return (some for batch in batches() if len(some := part(batch)))


def with_unlabelled(
    trained: TrainedModel, labelled: Batch, unlabelled: Batch, watch: Watch = unwatched
) -> tuple[TrainedModel, Evaluation | None]:
    """The model beside what rows without a label are expected to be, and how well it judges labelled ones, if anew.

    Families, recipes and smoothing are those that labelled rows chose. Where these are too few to tell whether others
    help, or gain nothing by them, the others weigh nothing, and it answers as if they were not there.
    """
    columns, learned = trained.schema.columns, trained.summary
    rows, others = (canonical_rows(picked(some)).with_missing(columns) for some in (labelled, unlabelled))
    nothing = Expected(Summary.empty(learned.blocks), weights_of(others).sum().item(), learned.rows)
    if not can_be_calibrated(trained.reading, rows, trained.options):
        return replace(trained, expected=nothing), None
    mixture, judged = mixture_of(trained, rows, others), affordable(trained.reading, len(rows))
    chosen = WeightTrials.of(mixture, learned.classes, judged).best(watch)
    if not chosen.weight:
        return replace(trained, expected=nothing), None
    with watch("Learning rows without a label", Size(None, "rows")):
        soft = soft_rows(others, expected_shares(mixture, chosen), learned.classes, chosen.weight)
        counts = engines.engine_of(trained).summarize(learned.counting_blocks, [soft])
        model = replace(trained, expected=replace(nothing, summary=counts))
    return tuned_by(model, chosen, rows.rows(0, judged)) if trained.options.calibrate else (model, None)


def mixture_of(trained: TrainedModel, rows: Batch, others: Batch) -> Mixture:
    """Labelled rows and others, as the chosen families see them."""
    reading, calibration = trained.reading, trained.tuning.calibration
    batch = joined_batches([replace(rows, labels=None), others]).read_once()
    weights = np.concatenate([weights_of(rows), weights_of(others)]).astype(np.float64)
    silent = frozenset(b for b in reading.blocks if calibration is not None and calibration.is_silent(b.key))
    engine = engines.engine_of(trained)
    return Mixture(batch, known_labels(reading, rows), weights, len(reading.classes), reading.blocks, silent, engine)


def soft_rows(rows: Batch, shares: FloatArray, classes: tuple[Key, ...], weight: float) -> Batch:
    """The rows once for every class that they have a share of, and as heavy as that share, times a weight."""
    positions, labels, weights = shared_out(shares, weights_of(rows).astype(np.float64), weight)
    return replace(rows.take(positions), labels=Coded(labels, classes), weights=weights)


def tuned_by(model: TrainedModel, chosen: WeightTrial, rows: Batch) -> tuple[TrainedModel, Evaluation]:
    """The model calibrated as labelled rows were in their trial, and how well they fared."""
    reading, score = model.reading, Score(most=0)
    for here, own in chosen.calibrations:
        score += scored_without(chosen.left.rows(here), reading, own, here, suspects=0)
    judged = score.evaluation(CROSS_FITTED, None, reading.classes)
    novelty = novelty_of(reading.blocks, LeaveOneOut.of(reading, rows).left_out(), [rows])
    measured = quality(reading, chosen.left, judged, ())
    return replace(model, tuning=Tuning(chosen.calibration, novelty, measured, model.summary.rows)), judged
