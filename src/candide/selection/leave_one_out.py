"""Every row judged by a model that never saw it: exact, one more pass, no refits.

A row is taken out of the summary whole, with all its weight, and judged by what is left under the same choices
(families, bins, smoothing, recipe). A class whose only row is taken out vanishes: it is impossible for that row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, BoolArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.cached import cached_property
from candide.data.errors import LabelsRefused, Location
from candide.data.values import Key, shown
from candide.engines.protocol import Engine, parts
from candide.families.base.block_rows import BlockRows, Learned
from candide.families.base.block_scores import BlockScores
from candide.families.base.family import Block
from candide.families.base.learning_in_part import LearnedInPart, LearnedInSteps
from candide.families.base.leave_one_out import BlockLeftOut, statistic_of
from candide.kernels.counting import count_labels
from candide.model.calibration import Calibration
from candide.model.novelty import how_expected
from candide.model.predictor import Priors, has_prior, log_normalised, log_priors, log_sum
from candide.model.reported import BlockEvidence, reported_scores
from candide.model.summary import Summary, grid_weights
from candide.selection.folds import FOLDS, scores_without_folds
from candide.statistics.weight_grid import bits_of, coarsest, weights_in_units

BY_ROW, BY_BLOCK = ("labels", "weights", "prior"), ("terms", "lengths", "log_marginal")
ALL_ROWS = slice(None)


@dataclass(frozen=True)
class LeftOut:
    """What is said of some rows without themselves."""

    labels: IntArray
    """The class number of each row."""
    weights: FloatArray
    """The weight of each row."""
    prior: FloatArray
    """Log prior, [row, class]; -inf where the class vanishes with the row."""
    terms: FloatArray
    """What each block says, [block, row, class]."""
    lengths: FloatArray
    """The evidence length, [block, row]: how much of a row each block could speak of."""
    log_marginal: FloatArray
    """How expected the values of each block are, whatever the class, as novelty measures it, [block, row]."""
    has_prior: bool = True
    """Whether the prior counts in the raw joint: not where every block is only a score."""

    @property
    def joint(self) -> FloatArray:
        """Prior and all blocks added up, [row, class]: raw."""
        start = self.prior if self.has_prior else np.where(np.isneginf(self.prior), -np.inf, 0.0)
        return start + self.terms.sum(axis=0)

    def reported(self, calibration: Calibration | None, classes: Sequence[Key], blocks: Sequence[Block]) -> FloatArray:
        """The scores that are reported, [row, class]: the joint, or prior, bias and weighed blocks."""
        if calibration is None:
            return self.joint
        evidence = map(BlockEvidence, [block.key for block in blocks], self.terms, self.lengths)
        return reported_scores(self.prior, calibration.biases(classes), calibration, evidence)

    def posterior(self, calibration: Calibration | None, classes: Sequence[Key], blocks: Sequence[Block]) -> FloatArray:
        """log P(class | row), [row, class]; a row whose class vanished with it gives that class 1 / (rows + 1)."""
        likely = log_normalised(self.reported(calibration, classes, blocks), self.prior)
        alone = np.flatnonzero(self.vanished)
        likely[alone, self.labels[alone]] = -np.log(self.weights.sum() + 1)
        return likely

    @property
    def vanished(self) -> AnyArray:
        """Which rows were the only ones of their class."""
        return np.isneginf(self.prior[np.arange(len(self.labels)), self.labels])

    def rows(self, wanted: slice | IntArray) -> LeftOut:
        """Some of the rows, which stand together in memory: an index between others would put blocks side by side."""

        def some(name: str, axis: int) -> Any:
            numbers: AnyArray = getattr(self, name)
            if isinstance(wanted, slice):
                return numbers[:, wanted] if axis else numbers[wanted]
            return numbers.take(wanted, axis=axis)

        return replace(self, **{name: some(name, 0) for name in BY_ROW}, **{name: some(name, 1) for name in BY_BLOCK})

    def block(self, index: int) -> LeftOut:
        """What one of the blocks says."""
        return self.blocks(slice(index, index + 1))

    def blocks(self, indices: slice | Sequence[int]) -> LeftOut:
        """What some of the blocks say."""
        return replace(self, **{name: getattr(self, name)[indices] for name in BY_BLOCK})

    @classmethod
    def side_by_side(cls, blocks: Sequence[LeftOut]) -> LeftOut:
        """The same rows, with what all these blocks say."""
        several: dict[str, Any] = {name: np.concatenate([getattr(one, name) for one in blocks]) for name in BY_BLOCK}
        return replace(blocks[0], **several)

    @classmethod
    def joined(cls, pieces: Iterable[LeftOut]) -> LeftOut:
        """The rows of several, in order."""
        several = list(pieces)
        if len(several) == 1:
            return several[0]
        by_row: dict[str, Any] = {name: np.concatenate([getattr(piece, name) for piece in several]) for name in BY_ROW}
        by_block: dict[str, Any] = {
            name: np.concatenate([getattr(piece, name) for piece in several], axis=1) for name in BY_BLOCK
        }
        return replace(several[0], **by_row, **by_block)


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Rows that can be taken out, one at a time, of the summary that learned them.

    Made once: rows are read once, whatever is asked of them, and what all questions share is worked out here. Then it
    is asked what blocks say of each row without it: those of the summary, or others that learn the same rows, on this
    thread or through an engine. Whoever wants to know how good something is without a row asks this: choosing,
    calibrating, evaluating.
    """

    summary: Summary
    """What learned the rows, perhaps among others: in all its blocks, or their labels alone."""
    batch: Batch
    """The rows, kept as they were read."""
    labels: IntArray
    weights: AnyArray
    """As in a summary: on the grid, and none where every row weighs one."""
    prior: FloatArray
    """The log prior of each class without each row, [row, class]."""
    prepared: Mapping[Block, BlockLeftOut]
    """Blocks made ready before, where several of these share them."""
    everyone: Batch | None = None
    """All rows that the summary has learned, the first of which are these; nothing where it may have learned others."""

    @classmethod
    def of(
        cls,
        summary: Summary,
        rows: Batch,
        priors: Priors = "empirical",
        class_weight: Priors | None = None,
        prepared: Mapping[Block, BlockLeftOut] | None = None,
        everyone: Batch | None = None,
    ) -> LeaveOneOut:
        """Ready to take out these rows, all of which the summary has learned."""
        labels, weights = known_labels(summary, rows), grid_weights(rows)
        prior = priors_without(summary, labels, weights, priors, class_weight)
        return cls(summary, rows, labels, weights, prior, prepared or {}, everyone)

    @classmethod
    def of_labels(cls, rows: Batch) -> LeaveOneOut:
        """Ready to take out rows of themselves, in whichever blocks they will be learned."""
        rows = rows if rows.readings is not None else rows.read_once()
        return cls.of(Summary.of((), rows), rows, everyone=rows)

    @cached_property
    def with_everyone(self) -> LeaveOneOut:
        """The same with all rows that were learned, as far as they are at hand; no priors are worked out for them."""
        if self.everyone is None or self.everyone is self.batch:
            return self
        labels, weights = known_labels(self.summary, self.everyone), grid_weights(self.everyone)
        return replace(self, batch=self.everyone, labels=labels, weights=weights, prior=self.prior[:0])

    def among(self, wanted: slice | IntArray, blocks: Iterable[Block]) -> LeaveOneOut:
        """Some of the rows alone, to be taken out of all that were learned; blocks do not read them again."""
        weights = self.weights[wanted] if self.weights.size else self.weights
        batch = self._read_before(np.arange(len(self.labels))[wanted], blocks)
        some = replace(self, batch=batch, labels=self.labels[wanted], weights=weights, prior=self.prior[wanted])
        return replace(some, everyone=None)

    def only(self, wanted: IntArray, blocks: Iterable[Block]) -> LeaveOneOut:
        """Some of the rows, as if no others were known; what these blocks read of them is not read again."""
        batch = self._read_before(wanted, blocks)
        return LeaveOneOut.of(self.learned(wanted), batch, everyone=batch)

    def _read_before(self, wanted: IntArray, blocks: Iterable[Block]) -> Batch:
        """Some of the rows, with what blocks read of them."""
        values = {block: block.family.values_at(self.rows(block).values, wanted) for block in blocks}
        readings: dict[Hashable, Any] = {("values", block): some for block, some in values.items() if some is not None}
        return replace(self.batch.take(wanted), readings=readings)

    @property
    def classes(self) -> tuple[Key, ...]:
        """Those that rows may have."""
        return self.summary.classes

    @property
    def row_weights(self) -> FloatArray:
        """The weight of each row, one where none was given."""
        return self.weights.astype(np.float64) if self.weights.size else np.ones(len(self.labels))

    def left_out(self, blocks: Sequence[Block] | None = None, engine: Engine | None = None) -> LeftOut:
        """What blocks, by default those of the summary, say of each row without it: choices stay as they are.

        An engine asks several of them, and several parts of the rows, at a time.
        """
        asked = self.summary.blocks if blocks is None else tuple(blocks)
        left = self._empty(asked)
        self._leave_out(asked, range(len(asked)), frozenset(asked), left, engine, self._ready)
        return left

    def _empty(self, asked: Sequence[Block]) -> LeftOut:
        """What blocks say before they are asked: nothing."""
        shape = len(asked), len(self.labels), len(self.classes)
        parts = np.zeros(shape), np.zeros(shape[:2]), np.zeros(shape[:2])
        return LeftOut(self.labels, self.row_weights, self.prior, *parts, has_prior(asked))

    def _leave_out(
        self,
        asked: Sequence[Block],
        indices: Sequence[int],
        expected: Collection[Block],
        left: LeftOut,
        engine: Engine | None,
        make_ready: Callable[[Block], BlockLeftOut],
    ) -> None:
        """Note what some of the blocks say of each row without it, and how expected rows are by some of them."""
        run, whole = map if engine is None else engine.map, slice(0, len(self.labels))
        told = {index for index in indices if asked[index] in expected and not asked[index].family.is_auxiliary}

        def note(index: int, part: slice, said: BlockScores) -> None:
            left.terms[index, part], left.lengths[index, part] = said.score, said.length
            if index in told:
                expected_as = log_sum(self.prior[part] + said.log_likelihood) + said.unseen
                left.log_marginal[index, part] = how_expected(asked[index], expected_as, said.unseen)

        rest = []
        for index, answer in zip(indices, run(self._without_statistic, [asked[i] for i in indices]), strict=True):
            if answer is None:
                rest.append(index)
            else:
                note(index, whole, answer)
        ready = dict(zip(rest, run(make_ready, [asked[index] for index in rest]), strict=True))
        several = [whole] if engine is None else self._parts
        pieces = [(index, part) for index in rest for part in several]
        answers = run(self._said, [(asked[index], ready[index], part) for index, part in pieces])
        for (index, part), said in zip(pieces, answers, strict=True):
            note(index, part, said)

    def beside(
        self, left: LeftOut, blocks: Sequence[Block], rows: slice | IntArray = ALL_ROWS
    ) -> tuple[LeaveOneOut, LeftOut]:
        """The same with more blocks, which learn the rows, and what they say beside what was said, of some of them."""
        if not blocks:
            return self, left.rows(rows)
        learned = {block: self.statistic(block) for block in blocks}
        wider = replace(self, summary=self.summary.beside((*self.summary.blocks, *blocks), learned))
        asked = wider if rows is ALL_ROWS else wider.among(rows, blocks)
        return wider, LeftOut.side_by_side([left.rows(rows), asked.left_out(blocks)])

    def in_folds(
        self,
        blocks: Sequence[Block] | None = None,
        engine: Engine | None = None,
        folds: IntArray | None = None,
        expected: Sequence[Block] = (),
        folds_of: Mapping[Block, IntArray] | None = None,
    ) -> LeftOut:
        """The same, but blocks that choose when they are fitted are fitted without the row's fold, and choose anew.

        Leave-one-out holds choices fixed. A histogram chose its intervals with the row among the others, so what it
        then says of the row is a little too good, and whatever is fitted on it too sure. Rows are as good as shuffled.
        How expected rows are is told of some blocks only; and where `folds_of` a block that chooses are below zero, the
        block is not asked, and says nothing.
        """
        asked = self.summary.blocks if blocks is None else tuple(blocks)
        run, dealt = map if engine is None else engine.map, np.arange(len(self.labels)) % FOLDS
        fitted = [index for index, block in enumerate(asked) if block.family.chooses]
        by_row = sorted({*range(len(asked))} - {*fitted})
        left = self._empty(asked)
        self._leave_out(asked, by_row, frozenset(expected), left, engine, self._nearly_ready)
        folds, some, told = dealt if folds is None else folds, folds_of or {}, frozenset(expected)
        questions = [(asked[index], some.get(asked[index], folds)) for index in fitted]
        for index, said in zip(fitted, run(self._without_folds, questions), strict=True):
            left.terms[index], left.lengths[index] = said.score, said.length
            if asked[index] in told:
                expected_as = log_sum(self.prior + said.log_likelihood) + said.unseen
                left.log_marginal[index] = how_expected(asked[index], expected_as, said.unseen)
        return left

    def score(self, block: Block, folds: IntArray | None = None) -> FloatArray:
        """What one block says of each row, [row, class]: without it, or without its fold where the block chooses."""
        if block.family.chooses:
            dealt = np.arange(len(self.labels)) % FOLDS if folds is None else folds
            return scores_without_folds(block, self.statistic(block), self.rows(block), dealt).score
        return self._ready(block).scores(self.rows(block)).score

    def _without_folds(self, question: tuple[Block, IntArray]) -> BlockScores:
        """What a block says when fitted without the row's fold."""
        block, folds = question
        return scores_without_folds(block, self.statistic(block), self.rows(block), folds)

    def _without_statistic(self, block: Block) -> BlockScores | None:
        if self.everyone is None or block in self.prepared:
            return None
        rows = self.with_everyone.rows(block)
        return block.family.leave_each_out(rows, block.columns, len(self.classes), len(self.labels))

    def _ready(self, block: Block) -> BlockLeftOut:
        return self.prepared.get(block) or block.family.leave_one_out(self.statistic(block), block.columns)

    def _nearly_ready(self, block: Block) -> BlockLeftOut:
        return self.prepared.get(block) or block.family.nearly_leave_one_out(self.statistic(block), block.columns)

    def _said(self, piece: tuple[Block, BlockLeftOut, slice]) -> BlockScores:
        block, ready, part = piece
        rows = self.rows(block)
        return ready.scores(rows if part == slice(0, len(rows)) else rows.take(block.family, block.columns, part))

    @property
    def _parts(self) -> list[slice]:
        """The rows in parts small enough that every worker gets some."""
        stops = np.cumsum([0, *map(len, parts(self.batch))]).tolist()
        return list(map(slice, stops, stops[1:]))

    def statistic(self, block: Block) -> Any:
        """What a block has learned: in the summary, or now, from these rows."""
        if block in self.summary.blocks:
            return self.summary.statistics[self.summary.blocks.index(block)]
        return statistic_of(block.family, block.columns, self.rows(block), len(self.summary.classes))

    def learned(self, wanted: IntArray) -> Summary:
        """The labels of some of the rows, among the summary's classes."""
        labels, weights = self.labels[wanted], self.weights[wanted] if self.weights.size else self.weights
        units, bits = np.zeros(len(self.classes), dtype=np.int64), bits_of(weights)
        count_labels(labels, weights_in_units(weights, len(labels), bits), units)
        units, bits = coarsest(units, bits)
        return Summary((), self.classes, units, (), frozenset(self.classes), bits)

    def learned_in_part(self, block: Block, wanted: IntArray) -> LearnedInPart:
        """A block once it has learned some of the rows, to be asked about others."""
        learned = self._labelled(wanted)
        return block.family.learned_in_part(self.rows(block), block.columns, len(self.classes), learned)

    def learned_in_steps(self, block: Block, wanted: IntArray, steps: Sequence[int]) -> LearnedInSteps:
        """The same after ever more of them: the first so many, for each step."""
        learned = self._labelled(wanted)
        return block.family.learned_in_steps(self.rows(block), block.columns, len(self.classes), learned, steps)

    def _labelled(self, wanted: IntArray) -> Learned:
        return Learned(wanted, self.labels[wanted], self.weights[wanted] if self.weights.size else self.weights)

    def counted_before(self, block: Block) -> Any:
        """What the rows leave behind in a block, where it can tell from how they were read."""
        return block.family.counted_before(self.rows(block), block.columns, len(self.classes))

    def prior_without(self, wanted: IntArray, priors: Priors, class_weight: Priors | None) -> FloatArray:
        """The log prior of each class without some of the rows; impossible where that was all of the class."""
        weights, bits = self.weights[wanted] if self.weights.size else self.weights, bits_of(self.weights)
        bits = max(self.summary.bits, bits)
        units = self.summary.weighed.at(bits)[0]
        gone = np.zeros_like(units)
        count_labels(self.labels[wanted], weights_in_units(weights, len(wanted), bits), gone)
        return log_priors_left(self.summary, units - gone, bits, gone > 0, priors, class_weight)

    def rows(self, block: Block) -> BlockRows[Any]:
        """The rows as a block sees them, read once."""
        values = self.batch.once(("values", block), lambda: block.family.view(self.batch, block.columns))
        return BlockRows(values, self.labels, self.weights, self.batch)


def prepared_blocks(summary: Summary, engine: Engine) -> dict[Block, BlockLeftOut]:
    """The blocks of a summary, each made ready to take out rows: for rows that come in many batches."""
    return dict(zip(summary.blocks, engine.map(partial(prepared, summary), summary.blocks), strict=True))


def prepared(summary: Summary, block: Block) -> BlockLeftOut:
    """One block of a summary, made ready to take out rows."""
    return block.family.leave_one_out(summary.statistics[summary.blocks.index(block)], block.columns)


def known_labels(summary: Summary, batch: Batch) -> IntArray:
    """The class number of each row; rows that were never learned cannot be left out."""
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels. Only rows that were learned can be left out.")
    labels = batch.labels.renumbered({key: index for index, key in enumerate(summary.classes)})
    if (labels < 0).any():
        strange = batch.labels.keys[batch.labels.codes[int(np.argmax(labels < 0))]]
        raise LabelsRefused(
            f"Class '{shown(strange)}' was never learned, so its rows cannot be left out.",
            where=Location(value=shown(strange)),
        )
    return labels


def priors_without(
    summary: Summary,
    labels: IntArray,
    weights: AnyArray,
    priors: Priors = "empirical",
    class_weight: Priors | None = None,
) -> FloatArray:
    """The log prior of each class without each row, [row, class]."""
    bits = max(summary.bits, bits_of(weights))
    different, which = np.unique(weights_in_units(weights, 1, bits), return_inverse=True)
    if not weights.size:
        different, which = np.array([1 << bits]), np.zeros(1, dtype=np.int64)
    kinds, which = np.unique(labels * len(different) + which, return_inverse=True)
    table = np.empty((len(kinds), len(summary.classes)))
    for index, kind in enumerate(kinds.tolist()):
        label, weight = kind // len(different), different[kind % len(different)]
        units = summary.weighed.at(bits)[0].copy()
        units[label] -= weight
        if units[label] < 0:
            raise LabelsRefused(
                f"Class '{shown(summary.classes[label])}' weighs less than one of its rows: only rows that were "
                "learned can be left out."
            )
        gone = (np.arange(len(units)) == label) & (weight > 0)
        table[index] = log_priors_left(summary, units, bits, gone, priors, class_weight)
    return np.asarray(table.take(which, axis=0))


def log_priors_left(
    summary: Summary, units: IntArray, bits: int, gone: BoolArray, priors: Priors, class_weight: Priors | None
) -> FloatArray:
    """The log prior of each class where so many units are left: -inf for classes that went with rows now `gone`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = log_priors(replace(summary, units=units, bits=bits), priors, class_weight)
        vanished = gone & (units == 0)
        if vanished.any():
            found = np.where(vanished, -np.inf, found)
            found -= log_sum(found[None])
    return np.asarray(np.where(np.isnan(found), -np.inf, found))
