"""Evaluation of rows that were learned, each judged by what all others taught: exact, and no test set is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide import engines
from candide.data.arrays import IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.errors import ForgetRefused, RowsRefused
from candide.data.values import Key
from candide.engines.base.plan import Plan, with_step
from candide.families.base.family import Block
from candide.families.base.leave_one_out import BlockLeftOut
from candide.families.base.undecided import Undecided
from candide.kernels.hashing import Hashes, add_numbers, mix_all
from candide.model.calibration import Calibration
from candide.model.evaluation import Evaluation
from candide.model.options import Options
from candide.model.schema import AUTO, Choice
from candide.model.scoring import SUSPECTS, Score, classes_in_words
from candide.model.summary import NO_WEIGHTS
from candide.model.trained_model import TrainedModel
from candide.selection.folds import FOLDS
from candide.selection.leave_one_out import LeaveOneOut, LeftOut, prepared_blocks, priors_without
from candide.selection.pair_calibration import calibrations_without
from candide.selection.read_off import FEWEST_ROWS
from candide.selection.scored_rows import pieces, scored_without
from candide.selection.tune import CELLS, MOST_ROWS
from candide.selection.user_options import by_hand
from candide.store.model_file import from_bytes, to_bytes
from candide.training.forget import forget_rows

GRID = 2.0**20
"""Scores are told apart to a millionth of a nat, far above where processors round differently: all deal rows alike."""

TOO_MANY = (
    "These rows are too many to calibrate anew without each tenth, so the model's own calibration judged them. It was "
    "fitted on some of them, but is only {numbers:,} numbers: the log loss is too low by next to nothing."
)
TOO_FEW = (
    "These rows are too few to calibrate anew without each tenth, so the model's own calibration judged them, which "
    "may have been fitted on them."
)

EXPECTED = (
    "What rows without a label are expected to be was found with the help of these rows, and is held as it is, so new "
    "rows may be judged worse."
)
CHOSEN = (
    "Families, smoothing or recipes were chosen from these rows and are held as they are, so new rows may be judged "
    "worse."
)


WITHOUT_LAYER = (
    "The linear layer was fitted on these very rows, and none can be taken out of it: they were judged "
    "without it. What was measured when it was fitted, or folds, tell how good the whole is."
)


def chose_from_rows(learned: TrainedModel) -> bool:
    """Whether something was chosen by the labels of rows: a family, how a text is read, a table as a whole."""
    if learned.summary.rows < FEWEST_ROWS or len(learned.summary.classes) < 2:
        return False
    return any(is_chosen(choice, learned.options) for choice in learned.schema.choices)


def is_chosen(choice: Choice, options: Options) -> bool:
    """Whether a column's family or recipe came from the labels of rows."""
    if choice.family is None or by_hand(options.families, choice.column) != AUTO:
        return False
    return options.text is None if choice.family.has_recipe else isinstance(choice.remembered, Undecided)


def with_suspects(judged: Evaluation, left: Evaluation) -> Evaluation:
    """An evaluation with the rows whose labels look wrong when each is left out."""
    return replace(judged, label=left.label, suspicious=left.suspicious)


def left_out(
    learned: TrainedModel, batches: Iterable[Batch], *, rows: float | None = None, suspects: int = SUSPECTS
) -> Evaluation:
    """Judge rows that were learned, each by what all others taught: one more pass, exact, no test set needed.

    The calibration was fitted on left-out scores of these very rows, so it is fitted anew for each fold of them,
    without that fold; where rows are too many for that, they are also too many for a few numbers to remember. How many
    `rows` there are is asked only of rows that lie elsewhere: all that were learned, unless it is said.
    """
    engine, known = engines.engine_of(learned), known_columns(learned, batches)
    scorer = LeftOutScorer(learned, suspects)
    if isinstance(known, Plan):
        fit_in = (learned.reading.rows if rows is None else rows) <= scorer.room
        found = from_elsewhere(engine.map(LeftOutBatches(scorer, fit_in), known))
    else:
        ready = replace(scorer, ready=prepared_blocks(learned.reading, engine))
        found = ((len(left.labels), left, score) for left, score in engine.map(ready, pieces(known, scorer.cells)))
    total, kept, seen = Score(most=suspects), list[LeftOut](), 0
    for number, left, score in found:
        total, seen = total + score, seen + number
        kept = [*kept, left] if seen <= scorer.room and left is not None else []
    if FEWEST_ROWS <= seen <= scorer.room:
        total, notes = scorer.calibrated_in_folds(LeftOut.joined(kept)), []
    else:
        notes = of_calibration(learned.tuning.calibration, seen)
    held = learned.expected is not None and learned.expected.summary.rows
    notes = [*([CHOSEN] if chose_from_rows(learned) else []), *([EXPECTED] if held else []), *notes]
    notes = [*of_one_row(total.unknown_classes), *notes, *([] if learned.tuning.layer is None else [WITHOUT_LAYER])]
    return total.evaluation("leave-one-out", learned.label, learned.reading.classes, notes)


Said = tuple[int, LeftOut | None, Score]
"""How many rows there are, what is said of them without themselves if it is kept, and how good that is."""


@dataclass(frozen=True)
class LeftOutBatches:
    """Takes out the rows of whole batches where they lie, which are counted from the first of each."""

    scorer: LeftOutScorer
    keeps: bool

    def __call__(self, batch: Batch) -> Said:
        """What is said of the rows, piece by piece."""
        found = list(map(self.scorer, pieces([batch], self.scorer.cells)))
        score = sum((score for _, score in found), Score(most=self.scorer.suspects))
        return len(batch), LeftOut.joined(left for left, _ in found) if self.keeps else None, score

    def __reduce__(self) -> Any:
        """Sent elsewhere, the model travels in the form of its file, and is checked there."""
        return sent_batches, (to_bytes(self.scorer.learned), self.scorer.suspects, self.keeps)


def sent_batches(model: bytes, suspects: int, keeps: bool) -> LeftOutBatches:
    """What takes out rows, as it arrives."""
    return LeftOutBatches(LeftOutScorer(from_bytes(model), suspects), keeps)


def from_elsewhere(found: Iterable[Said]) -> Iterator[Said]:
    """What batches said, with rows counted through all of them."""
    seen = 0
    for rows, left, score in found:
        yield rows, left, score.at(np.arange(seen, seen + rows))
        seen += rows


@dataclass(frozen=True)
class LeftOutScorer:
    """Compares what all others taught with the labels of rows."""

    learned: TrainedModel
    suspects: int = SUSPECTS
    ready: Mapping[Block, BlockLeftOut] | None = None
    """The model's blocks, where an engine has made them ready."""

    @cached_property
    def prepared(self) -> Mapping[Block, BlockLeftOut]:
        """The model's blocks, ready to take out rows of any batch."""
        return prepared_blocks(self.learned.reading, engines.named()) if self.ready is None else self.ready

    @property
    def cells(self) -> int:
        """How many numbers a row needs."""
        return len(self.learned.reading.classes) * max(1, len(self.learned.reading.blocks))

    @property
    def room(self) -> int:
        """How many rows may be kept to calibrate anew: none where nothing was calibrated."""
        if self.learned.tuning.calibration is None:
            return 0
        return max(FEWEST_ROWS, min(MOST_ROWS, CELLS // self.cells))

    def __call__(self, batch: Batch) -> tuple[LeftOut, Score]:
        """What is said of rows without themselves, and how good that is under the model's own calibration."""
        summary, options = self.learned.reading, self.learned.options
        left = LeaveOneOut.of(summary, batch, options.priors, options.class_weight, self.prepared).left_out()
        numbers = np.arange(batch.start, batch.start + len(batch))
        return left, self.score(left, self.learned.tuning.calibration_alone, numbers)

    def score(self, left: LeftOut, calibration: Calibration | None, numbers: IntArray) -> Score:
        """How good the answers are."""
        return scored_without(left, self.learned.reading, calibration, numbers, self.suspects)

    def empirical(self, left: LeftOut) -> LeftOut:
        """The same under the priors of the rows: a calibration must not take back what other priors ask for."""
        weights = left.weights if (left.weights != 1.0).any() else NO_WEIGHTS
        return replace(left, prior=priors_without(self.learned.reading, left.labels, weights))

    def calibrated_in_folds(self, left: LeftOut) -> Score:
        """The score where each fold of the rows is judged by a calibration fitted on the others.

        Rows are first put in an order of their own, by label and by what is said of them, so that their order in the
        data does not matter, and every fold has its share of every class.
        """
        order = np.lexsort((hashes(left), left.labels))
        left, folds = left.rows(order), np.arange(len(order)) % FOLDS
        total = Score(most=self.suspects)
        reading = self.learned.reading
        for here, calibration in calibrations_without(self.empirical(left), reading.classes, reading.blocks, folds):
            total += self.score(left.rows(here), calibration, order[here])
        return total


def known_columns(learned: TrainedModel, batches: Iterable[Batch]) -> Iterable[Batch]:
    """The rows with every column that was learned, missing where absent, and no others."""
    return with_step(batches, KnownColumns(learned.schema.columns))


@dataclass(frozen=True)
class KnownColumns:
    """Gives a batch the columns that were learned."""

    columns: tuple[str, ...]

    def __call__(self, batch: Batch) -> Batch:
        """The same rows, with these columns and no others."""
        known = set(self.columns)
        names = [name for name in batch.names if name in known]
        some = batch if len(names) == len(batch.names) else batch.only(names)
        return some.with_missing(self.columns)


def refuse_never_learned(learned: TrainedModel, batches: Iterable[Batch]) -> float:
    """Raise where rows cannot have been learned: what was learned must be able to forget them. How many they are."""
    try:
        left = forget_rows(learned, known_columns(learned, batches))
    except ForgetRefused as problem:
        raise RowsRefused(
            "Only rows that were learned can be left out. ",
            problem.message,
            advice="To evaluate new rows, do not leave them out.",
            where=problem.where,
        ) from None
    return learned.summary.rows - left.summary.rows


def hashes(left: LeftOut) -> Hashes:
    """A number for what is said of each row: rows with the same one may stand for each other."""
    totals = np.zeros(len(left.labels), dtype=np.uint64)
    said = [left.weights[:, None], left.prior, *left.terms, left.lengths.T]
    for index, numbers in enumerate(said):
        salts = mix_all(np.arange(numbers.shape[1], dtype=np.uint64) + np.uint64(index << 32))
        add_numbers(np.round(np.ascontiguousarray(numbers) * GRID), salts, totals)
    return totals


def of_one_row(vanished: frozenset[Key]) -> list[str]:
    """What to say of classes that vanish with a row."""
    if not vanished:
        return []
    one_row = f"{classes_in_words(vanished)} only one row"
    return [f"{one_row}. Without it nothing is known of the class, so the row counts as wrong."]


def of_calibration(calibration: Calibration | None, rows: int) -> list[str]:
    """What to say where rows were judged by the model's own calibration."""
    if calibration is None:
        return []
    numbers = sum(map(len, vars(calibration).values()))
    return [TOO_FEW if rows < FEWEST_ROWS else TOO_MANY.format(numbers=numbers)]
