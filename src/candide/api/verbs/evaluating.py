"""evaluate: how good the answers are, on new rows, on learned rows each left out, or in folds."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from candide import engines, evaluation
from candide.api.verbs.fitted import Fitted, opened_model
from candide.api.verbs.fitting import options_for
from candide.api.verbs.reading import (
    SourceOptions,
    expected_kinds,
    labelled_source,
    left_out_notes,
    named_sources,
    rows_to_choose_from,
    watched,
)
from candide.data.advice import NamedOption, SetOption
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.joined import joined_batches
from candide.data.progress import Watch, unwatched
from candide.engines.base.plan import Plan, with_step
from candide.evaluation import Evaluation
from candide.model.missing_columns import absent_columns_notes, lacking
from candide.model.options import Options
from candide.model.predictor import Priors
from candide.model.row_sample import Reservoir
from candide.model.schema import Families, Smoothing, Text
from candide.model.trained_model import TrainedModel
from candide.sources import Size, Source
from candide.store.overwriting import MODEL, file_kind, refuse_rejects
from candide.training.fit import fit_and_judge

FOLDS = 5
"""Where choices were made and nothing calibrated, rows are dealt into so many folds."""


def evaluate(
    model: Any,
    data: Any = None,
    label: str | None = None,
    *,
    leave_one_out: bool = False,
    folds: int | None = None,
    seed: int | None = None,
    families: Families = "auto",
    smoothing: Smoothing = "auto",
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
    missing: str = "ignore",
    text: Text = None,
    calibrate: bool = True,
    dependence: str = "auto",
    refine: str = "none",
    engine: str = engines.DEFAULT,
    strict: bool = False,
    watch: Watch = unwatched,
    **reading: Unpack[SourceOptions],
) -> Evaluation:
    """Compare answers with labels.

    `evaluate(model, rows)` judges rows that are new to the model; with `leave_one_out` they are rows it has learned,
    each judged by what all others taught. `evaluate(rows, label="...")` needs no model: it fits one to the rows, with
    the options that `fit` has, and judges each row by choices in which it had no part. With `folds` the rows are dealt
    into so many parts, and each is judged by a model fitted on the others: that takes the longest and trusts nothing.

    >>> rows = {"weather": ["sun", "rain", "rain", "sun"] * 5, "plan": ["beach", "home", "home", "beach"] * 5}
    >>> evaluate(rows, label="plan").kind, evaluate(rows, label="plan", folds=4).kind
    ('cross-fitted', '4-fold')
    """
    evaluation.refuse_two_ways(leave_one_out, folds, seed)
    engines.refuse_unknown_engine(engine)
    asked = families, smoothing, priors, class_weight, missing, text, calibrate, engine
    options = Options(*asked, dependence=dependence, refine=refine)
    refuse_rejects(reading.get("rejects"), [data, model])
    if data is None:
        refuse_no_rows(model)
        source = labelled_source(model, label, None, reading, engine)
        if folds is not None:
            return evaluated_in_folds(source, options, folds, seed or 0, watch)
        return anew(source, options, watch)
    refuse_to_fit(folds, replace(options, engine=engines.DEFAULT))
    fitted = opened_model(model)
    trained = replace(fitted.trained, options=replace(fitted.trained.options, engine=engine))
    source = labelled_source(data, label or fitted.label, expected_kinds(trained), reading, engine)
    return without_each(trained, source, watch) if leave_one_out else on_new_rows(trained, source, watch, strict)


def on_new_rows(trained: TrainedModel, source: Source, watch: Watch, strict: bool = False) -> Evaluation:
    """Rows the model has not learned; what they lack is missing."""
    absent, engine = lacking(trained.schema, source.columns, strict), trained.options.engine
    complete = with_step(watched(source, "Evaluating", watch, engine), WithMissing(trained.schema.columns))
    runs = engines.engine_of(trained)
    if isinstance(complete, Plan):
        found = evaluation.on_rows_elsewhere(trained, complete, runs, label=source.label)
    else:
        found = evaluation.on_rows(trained.predictor, complete, runs, label=source.label)
    found = noted(replace(found, notes=(*absent_columns_notes(absent, source.columns), *found.notes)), source)
    again = partial(watched, source, "Comparing", unwatched, engine)
    learned_from = trained.provenance.get("sources", ())
    learned = evaluation.notes_on_learned_rows(trained, found, again, named_sources(source), learned_from)
    return replace(found, notes=(*found.notes, *learned))


@dataclass(frozen=True)
class WithMissing:
    """Gives a batch the columns of a schema that it lacks, without a value."""

    columns: tuple[str, ...]

    def __call__(self, batch: Batch) -> Batch:
        """The same rows."""
        return batch.with_missing(self.columns)


def without_each(trained: TrainedModel, source: Source, watch: Watch) -> Evaluation:
    """Rows the model has learned: read once to see that it has, and once to judge them."""
    engine = trained.options.engine
    rows = evaluation.refuse_never_learned(trained, watched(source, "Checking", watch, engine))
    found = evaluation.left_out(trained, watched(source, "Leaving each row out", watch, engine), rows=rows)
    return noted(found, source)


def anew(source: Source, options: Options, watch: Watch) -> Evaluation:
    """Fit as `fit` does, and judge rows by choices they had no part in; each is left out to find wrong labels."""
    sample, batches = rows_to_choose_from(source, watch, options)
    rows = sample.rows() if isinstance(sample, Reservoir) else sample
    options = options_for(options, rows, source)
    learning = None if batches is not None else partial(watched, source, "Learning", watch, options.engine)
    trained, judged = fit_and_judge(options, sample, learning, source.label, watch)
    again = watched(source, "Leaving each row out", watch, options.engine) if batches is None else batches
    left = evaluation.left_out(trained, again)
    if judged is None and evaluation.chose_from_rows(trained):
        judged = evaluation.in_folds(options, rows, min(FOLDS, len(rows)), label=source.label)
    return noted(left if judged is None else evaluation.with_suspects(judged, left), source)


def evaluated_in_folds(source: Source, options: Options, folds: int, seed: int, watch: Watch) -> Evaluation:
    """All rows in memory, dealt into folds."""
    batch = joined_batches(list(watched(source, "Reading", watch)))
    options = options_for(options, batch, source)
    with watch(f"Fitting {folds} times", Size(len(batch), "rows")) as report:
        found = evaluation.in_folds(
            options, batch, folds, seed=seed, label=source.label, report=report
        )
    return noted(found, source)


def noted(found: Evaluation, source: Source) -> Evaluation:
    """The same, with a word on rows that could not be read."""
    return replace(found, notes=(*found.notes, *left_out_notes(source)))


def is_model(given: Any) -> bool:
    """Whether this is a model rather than rows: one at hand, or a file that is named or begins like one."""
    if isinstance(given, Fitted) or isinstance(getattr(given, "trained_", None), TrainedModel):
        return True
    if not isinstance(given, (str, os.PathLike)):
        return False
    if os.fspath(given).endswith(".candide"):
        return True
    return file_kind(given) == MODEL


def refuse_no_rows(model: Any) -> None:
    """A model alone cannot be evaluated: it remembers sums, not rows."""
    if is_model(model):
        raise OptionRefused(
            "A model keeps no rows,",
            advice=(
                "so give some with labels: new ones, or those it learned with ", SetOption("leave_one_out", True), ".",
            ),
        )


def refuse_to_fit(folds: int | None, options: Options) -> None:
    """What is for fitting says nothing to a model that was fitted."""
    if folds is not None:
        raise OptionRefused(
            NamedOption("folds"), " fits anew in each part, so it takes rows and their label column, and no model."
        )
    for name, default in Options().as_dict().items():
        if getattr(options, name) != default:
            raise OptionRefused(NamedOption(name), " is for fitting, but a model has chosen already.")
