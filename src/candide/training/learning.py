"""Fit, learn, forget and merge, apart from any face: what `NaiveBayes` and the command line share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from candide import engines
from candide.data.arrays import BoolArray
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused, LabelsRefused, OptionRefused, RowsRefused, SummariesDisagree, suggestion
from candide.data.progress import Size, Watch, unwatched
from candide.data.values import Key, shown
from candide.engines.protocol import Engine
from candide.model.predictor import Model, Priors
from candide.model.row_sample import Reservoir, canonical, picked
from candide.model.schema import Families, Schema, Smoothing, Text, choose
from candide.model.summary import Summary
from candide.model.tuning import UNTUNED, Tuning
from candide.statistics.ledger import Ledger
from candide.store import Saved
from candide.training.forgetting import scrubbed

NO_COLUMNS = Schema(())


@dataclass(frozen=True)
class Options:
    """What a user can ask for when learning; see `NaiveBayes` for what each means."""

    families: Families = "auto"
    smoothing: Smoothing = "auto"
    priors: Priors = "empirical"
    class_weight: Priors | None = None
    missing: str = "ignore"
    text: Text = None
    calibrate: bool = True
    engine: str = engines.DEFAULT
    ledger: bool = False

    def __post_init__(self) -> None:
        engines.refuse_unknown(self.engine)
        if self.missing not in ("ignore", "value"):
            raise OptionRefused(f"missing must be 'ignore' or 'value', not {self.missing!r}.")

    def choose(self, batch: Batch) -> Schema:
        """A family for every column of the rows: as given, else by the look of its values."""
        return choose(batch, self.families, self.smoothing, self.missing == "value", self.text)

    def choose_only(self, batch: Batch, new: list[str]) -> Schema:
        """A family for the columns not met before; what was said of others is left aside."""
        narrowed = {name: only(getattr(self, name), new) for name in ("families", "smoothing", "text")}
        return replace(self, **narrowed).choose(batch.only(new))

    @property
    def columns_named(self) -> set[str]:
        """The columns that the user spoke of by name."""
        given = (self.families, self.smoothing, self.text)
        return {str(name) for by_column in given if isinstance(by_column, Mapping) for name in by_column}

    def as_dict(self) -> dict[str, Any]:
        """Every option by name."""
        return {option.name: getattr(self, option.name) for option in fields(self)}


def only(by_column: Any, names: list[str]) -> Any:
    """The part of a mapping by column that speaks of these names; anything else as it is."""
    if not isinstance(by_column, Mapping):
        return by_column
    return {name: value for name, value in by_column.items() if name in names}


@dataclass(frozen=True)
class Learned:
    """Everything that was asked for, chosen and learned. Learning more gives a new one; the old stays as it is."""

    options: Options
    schema: Schema
    summary: Summary
    label: str | None = None
    tuning: Tuning = UNTUNED
    ledger: Ledger | None = None

    @classmethod
    def nothing(cls, options: Options, schema: Schema = NO_COLUMNS, label: str | None = None) -> Learned:
        """Choices, and not a row learned."""
        return cls(options, schema, Summary.empty(()), label, ledger=Ledger.empty() if options.ledger else None)

    @classmethod
    def fit(
        cls,
        options: Options,
        sample: Batch,
        batches: Iterable[Batch] | None = None,
        label: str | None = None,
        watch: Watch = unwatched,
    ) -> Learned:
        """Choose by leave-one-out from rows of the sample, learn all batches (or the sample), and calibrate.

        Calibration looks at the same rows of the sample, or at as many from all over the batches.
        """
        from candide.selection.columns import chosen_by_leaving_out  # not needed, and not imported, to predict
        from candide.selection.screening import screened

        rows = [canonical(picked(sample))]
        everything = batches is None and len(rows[0]) == len(sample)
        with watch("Looking", Size(None, "columns")):
            guessed = screened(options.choose(sample), rows[0], options)
        engine = engines.named(options.engine)
        schema = chosen_by_leaving_out(guessed, rows[0], options, engine, everything, watch)
        begun = cls.nothing(options, schema, label)
        if batches is None:
            with watch("Learning", Size(None, "rows")):
                learned = begun.refilled([sample])
            return learned.tuned(rows, watch)
        reservoir = Reservoir()
        learned = begun.refilled(reservoir.watched(batches))
        return learned.tuned(reservoir.rows(), watch)

    @classmethod
    def begin(
        cls, options: Options, first: Batch, label: str | None = None, declared: Iterable[Key] = ()
    ) -> Learned:
        """Learn the first of many batches: families by the look of its values, nothing chosen or calibrated."""
        return cls.nothing(options, options.choose(first), label).refilled([first], declared)

    @classmethod
    def of(cls, saved: Saved) -> Learned:
        """What a model file holds."""
        return cls(Options(**saved.options), saved.schema, saved.summary, saved.label, saved.tuning, saved.ledger)

    def saved(self, provenance: dict[str, Any]) -> Saved:
        """What a model file should hold."""
        options = self.options.as_dict()
        return Saved(self.schema, self.summary, options, self.label, provenance, self.tuning, self.ledger)

    def tuned(self, rows: Sequence[Batch], watch: Watch = unwatched) -> Learned:
        """Calibrated on these rows of those learned, each left out; as it is where that is not asked for."""
        if not self.options.calibrate:
            return self
        from candide.selection.screening import with_leaks
        from candide.selection.tune import tune

        complete = list(self._complete(rows))
        tuning, leaks = tune(self.summary, complete, self.engine, self.options.priors, self.options.class_weight, watch)
        return replace(self, tuning=tuning, schema=with_leaks(self.schema, leaks))

    def refilled(self, batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Learned:
        """The same choices, with only these rows learned; how well the choices did on others is not kept."""
        return self._summarized(batches, declared)

    def _summarized(
        self, batches: Iterable[Batch], declared: Iterable[Key] = (), within: Ledger | None = None
    ) -> Learned:
        """The same choices with these rows; where a ledger is kept, noted, and refused if not `within` another."""
        rows, ledger = self._complete(batches), None
        if self.options.ledger:
            from candide.training.row_hashes import Noting

            noting = Noting(self.schema.blocks, within)
            summary = self.engine.summarize(self.schema.blocks, noting.watched(rows), declared)
            ledger = noting.ledger()
        else:
            summary = self.engine.summarize(self.schema.blocks, rows, declared)
        return replace(self, summary=summary, tuning=replace(self.tuning, quality=None), ledger=ledger)

    def learn(self, batches: Iterable[Batch], declared: Iterable[Key] = (), sample: Batch | None = None) -> Learned:
        """More rows. Columns that only the sample has get a family; the old rows lack them."""
        wider = self if sample is None else self.widened(sample)
        return wider + wider.refilled(batches, declared)

    def forget(self, batches: Iterable[Batch]) -> Learned:
        """Without these rows: all of them, or refused if one was never learned.

        What only they had goes with them: classes, columns, and what was measured when they were there.
        """
        gone = self._summarized(self._only_known(batches), within=self.ledger)
        left = self.left_with(self.summary - gone.summary)
        return left if self.ledger is None or gone.ledger is None else replace(left, ledger=self.ledger - gone.ledger)

    def knows(self, batch: Batch) -> BoolArray:
        """Whether each row, with its label, was learned and not forgotten. Only a ledger can tell."""
        if self.ledger is None:
            raise OptionRefused(
                "Only a model with a ledger can tell whether a row was learned: fit it with ledger=True (--ledger)."
            )
        from candide.training.row_hashes import identities

        known = set(self.schema.columns)
        strange = np.zeros(len(batch), dtype=bool)
        for name in batch.names:
            strange |= False if name in known else ~batch.missing(name)
        hashes = identities(self.schema.blocks, batch.with_missing(self.schema.columns))
        return (self.ledger.times(hashes) > 0) & ~strange

    def left_with(self, rest: Summary) -> Learned:
        """The same choices, once rows were forgotten and this is left."""
        declared = self.options.columns_named
        schema, summary, tuning = scrubbed(self.schema, self.summary, rest, self.tuning, declared)
        return replace(self, schema=schema, summary=summary, tuning=tuning)

    def refuse_others(self, batches: Iterable[Batch]) -> None:
        """Raise unless these rows are exactly those that were learned and not forgotten."""
        refuse_other_rows(self.summary, self.refilled(self._only_known(batches), self.summary.declared).summary)

    def __add__(self, other: Learned) -> Learned:
        """What both learned, with this one's options."""
        if (self.ledger is None) != (other.ledger is None):
            raise SummariesDisagree(
                "Of these two, one keeps a ledger of its rows and the other does not, so their sum could keep none. "
                "Learn both with a ledger (ledger=True, --ledger), or both without."
            )
        ledger = self.ledger + other.ledger if self.ledger is not None and other.ledger is not None else None
        return replace(self, summary=self.summary + other.summary, ledger=ledger)

    def widened(self, sample: Batch) -> Learned:
        """The same rows under a schema that knows every column of the sample."""
        known = set(self.schema.columns)
        new = [name for name in sample.names if name not in known and sample.has_values(name)]
        if not new:
            return self
        schema = self.schema.extended(self.options.choose_only(sample, new))
        return replace(self, schema=schema, summary=self.summary.widened(schema.blocks))

    @property
    def engine(self) -> Engine:
        """What runs the work over its rows."""
        return engines.named(self.options.engine)

    @cached_property
    def model(self) -> Model:
        """The parameters, made when first asked for."""
        return self.model_for(self.options.priors, self.options.class_weight)

    def model_for(self, priors: Priors, class_weight: Priors | None) -> Model:
        """The parameters with other priors."""
        return Model.fit(self.summary, priors, class_weight, self.tuning.calibration, self.schema.kinds)

    def _complete(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """Batches with every column of the schema, missing where absent; one nobody chose for is refused."""
        known = set(self.schema.columns)
        for batch in batches:
            if batch.labels is None:
                raise LabelsRefused("These rows have no labels. Learning needs one label a row.")
            strangers = [name for name in batch.names if name not in known and batch.has_values(name)]
            if strangers:
                raise ColumnRefused(
                    f"Column '{strangers[0]}' first appears in row {batch.start}, after the columns were decided. "
                    f"Say what it is: families={{'{strangers[0]}': ...}}, or leave it out with 'ignore'."
                )
            yield batch.with_missing(self.schema.columns)

    def _only_known(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The batches, as long as every value is in a column that was learned."""
        known = set(self.schema.columns)
        for batch in batches:
            for name in batch.names:
                if name not in known and batch.has_values(name):
                    raise ColumnRefused(
                        f"Column '{name}' was never learned, so rows with a value in it were not either. "
                        f"{suggestion(name, self.schema.columns)}"
                    )
            yield batch


def refuse_other_rows(learned: Summary, given: Summary) -> None:
    """Raise unless the rows given are those that were learned: then they have the same summary, to the bit."""
    if learned == given:
        return
    mine, theirs = (dict(zip(s.classes, s.counts.tolist(), strict=True)) for s in (learned, given))
    apart = next((key for key in sorted({*mine, *theirs}) if mine.get(key, 0) != theirs.get(key, 0)), None)
    found = "as many rows of each class, but other values in them"
    if apart is not None:
        found = f"{theirs.get(apart, 0):,} rows of class '{shown(apart)}' where the model holds {mine.get(apart, 0):,}"
    raise RowsRefused(
        f"These are not the rows of the model: there are {found}. Give exactly the rows that were learned and not "
        "forgotten, or fit a new model."
    )


def refuse_undeclared(batch: Batch, declared: frozenset[Key]) -> None:
    """Raise where classes were declared and a row has another."""
    if declared and batch.labels is not None:
        for key in batch.labels.keys:
            if key not in declared:
                raise LabelsRefused(f"Class '{shown(key)}' is not among the `classes` given.")
