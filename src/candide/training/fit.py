"""Fit: choose by leave-one-out, learn every row, calibrate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from candide import engines
from candide.data.batch import Batch
from candide.data.progress import Size, Watch, unwatched
from candide.data.values import Key
from candide.model.options import Options
from candide.model.row_sample import Reservoir, canonical_rows, picked
from candide.model.trained_model import TrainedModel
from candide.training.refill import completed, refilled


def fit_rows(
    options: Options,
    sample: Batch,
    batches: Iterable[Batch] | None = None,
    label: str | None = None,
    watch: Watch = unwatched,
) -> TrainedModel:
    """Choose by leave-one-out from rows of the sample, learn all batches (or the sample), and calibrate.

    Calibration looks at the same rows of the sample, or at as many from all over the batches.
    """
    from candide.selection.columns import chosen_by_leaving_out  # not needed, and not imported, to predict
    from candide.selection.screening import screened

    rows = [canonical_rows(picked(sample)).read_once()]
    everything = batches is None and len(rows[0]) == len(sample)
    with watch("Looking", Size(None, "columns")):
        guessed = screened(options.choose(sample), rows[0], options)
    schema = chosen_by_leaving_out(guessed, rows[0], options, engines.named(options.engine), everything, watch)
    begun = TrainedModel.empty(options, schema, label)
    if batches is None:
        with watch("Learning", Size(None, "rows")):
            trained = refilled(begun, [sample])
        return calibrated_on(trained, rows, watch)
    reservoir = Reservoir()
    trained = refilled(begun, reservoir.watched(batches))
    return calibrated_on(trained, reservoir.rows(), watch)


def fit_first_batch(
    options: Options, first: Batch, label: str | None = None, declared: Iterable[Key] = ()
) -> TrainedModel:
    """Learn the first of many batches: families by the look of its values, nothing chosen or calibrated."""
    return refilled(TrainedModel.empty(options, options.choose(first), label), [first], declared)


def calibrated_on(trained: TrainedModel, rows: Sequence[Batch], watch: Watch = unwatched) -> TrainedModel:
    """Calibrated on these rows of those learned, each left out; as it is where that is not asked for."""
    options = trained.options
    if not options.calibrate:
        return trained
    from candide.selection.screening import with_leaks
    from candide.selection.tune import tune

    complete = list(completed(trained, rows))
    engine = engines.engine_of(trained)
    tuning, leaks = tune(trained.summary, complete, engine, options.priors, options.class_weight, watch)
    return replace(trained, tuning=tuning, schema=with_leaks(trained.schema, leaks))
