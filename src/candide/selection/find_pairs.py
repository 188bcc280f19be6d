"""How many pairs of columns to keep: as many as rows say that had no part in finding them, or none.

The best of hundreds of pairs seems to tell something even where none does. So pairs are found and weighed without each
fifth of the rows, which then judges them, and few are taken unless more are better by a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.grid import quantized_number
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.families.pairs.column_bins import ColumnBins
from candide.families.pairs.pair import NO_BINS, Pair
from candide.kernels.pair_terms import believe
from candide.model.calibration import Calibration
from candide.model.predictor import log_normalised
from candide.model.schema import Schema
from candide.selection.calibration_task import FARTHEST
from candide.selection.leave_one_out import LeaveOneOut, LeftOut
from candide.selection.pair_bins import bins_of_columns
from candide.selection.pair_calibration import evidence_of_columns, with_pairs
from candide.selection.pair_search import ALONE, SIZES, PairPath, PairSearch, Weighed
from candide.selection.pair_weights import CLOSELY, PairLoss, prior_of

FEWEST_ROWS, MOST_CLASSES = 50, 128
"""Fewer rows tell nothing of pairs; of more classes, next to none are in a cell of a pair."""
CHANCES_TO_JUDGE, LEAST_TO_JUDGE = 20_000, 3000
"""Pairs are judged by at most so many chances, of each row one less than classes, but by so many rows if there are."""
WORK_TO_SCREEN, MOST_COLUMNS, LEAST_COLUMNS = 40_000_000, 100, 8
"""Ranking all pairs may look at so many (pair, row, class) cells: of more columns the loudest may pair."""
WORTH_THREADS = 2_000_000
"""Of fewer such cells, folds are looked at one after the other: threads would wait for the interpreter."""
PAYS, BY_CHANCE = 2.0, 3.0
"""Pairs must gain more than so many standard errors, and so many nats over all rows."""

PATIENCE = 2
"""More pairs are not looked for once so many steps have not gained more than the best before them."""

FoldCalibration = tuple[IntArray, Calibration]
"""The rows of a fold, and the calibration of all others."""


@dataclass(frozen=True)
class PairsFound:
    """Pairs, as strong as they were weighed, and a weight for all that columns say beside them."""

    pairs: tuple[Pair, ...]
    beside: float

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Each pair as a block."""
        return tuple(Block(pair, pair.columns) for pair in self.pairs)

    def calibration(self, plain: Calibration) -> Calibration:
        """A calibration with pairs beside what it weighed without them."""
        return with_pairs(plain, self.blocks, (self.beside, *(1.0 for _ in self.pairs)))


NO_PAIRS = PairsFound((), 1.0)


@dataclass(frozen=True)
class PairsJudged:
    """The pairs to keep, and those that each fold's rows had no part in finding, by which they are judged."""

    kept: PairsFound
    by_fold: tuple[PairsFound, ...]


@dataclass(frozen=True, eq=False)
class FoldPath:
    """Pairs found without a fold, by ever more, and what they say of those of its rows that judge."""

    rows: IntArray
    path: PairPath
    terms: FloatArray
    """What columns and pairs say of the rows, [term, row, class]."""
    beside: FloatArray
    """How many other rows are in the cell of each, [pair, row]."""
    gained: tuple[FloatArray, ...] = ()
    """What each step gains each row of all that judge: nothing those of other folds."""


@dataclass(frozen=True, eq=False)
class Finder:
    """Rows left out, with what columns say of them and the bins of their values."""

    leaving: LeaveOneOut
    left: LeftOut
    blocks: Sequence[Block]
    columns: Sequence[ColumnBins]
    search: PairSearch
    missing_is_value: bool

    @classmethod
    def of(
        cls, leaving: LeaveOneOut, left: LeftOut, blocks: Sequence[Block], schema: Schema, missing_is_value: bool
    ) -> Finder:
        """Made ready once, whichever rows then look for pairs."""
        rows = leaving.batch
        columns = bins_of_columns(schema, rows, left.weights, missing_is_value)
        codes = [bins.of_rows(rows, missing_is_value).astype(np.int8) for bins in columns]
        start = prior_of(left)
        search = PairSearch(
            np.array(codes, dtype=np.int8).reshape(len(columns), len(left.labels)),
            np.array([bins.bins for bins in columns], dtype=np.int64),
            np.zeros((0, 2), dtype=np.int64),
            start,
            left.labels,
            np.where(left.vanished, 0.0, left.weights),
            min(len(start), max(LEAST_TO_JUDGE, CHANCES_TO_JUDGE // max(1, start.shape[1] - 1))),
        )
        return cls(leaving, left, blocks, columns, search, missing_is_value)

    def said(self, calibration: Calibration) -> FloatArray:
        """What columns say of each row, calibrated, beyond the prior, [row, class]."""
        return evidence_of_columns(self.left, calibration, self.leaving.classes, self.blocks)

    def among_loudest(self, calibration: Calibration) -> Finder:
        """Any two columns may be a pair; of very many only those that say most."""
        most = (1 + math.isqrt(1 + 8 * WORK_TO_SCREEN // (self.search.judging * self.search.start.shape[1]))) // 2
        most = max(LEAST_COLUMNS, min(MOST_COLUMNS, most))
        loud = loudness(self.left, calibration, self.blocks)
        order = sorted(range(len(self.columns)), key=lambda index: (-loud[self.columns[index].column], index))
        able = sorted(order[:most])
        pairs = [(one, other) for place, one in enumerate(able) for other in able[place + 1 :]]
        return replace(self, search=replace(self.search, candidates=np.array(pairs, np.int64).reshape(-1, 2)))

    def begun(self, fold: FoldCalibration) -> FoldPath:
        """No pairs yet, to be found without a fold."""
        search, said = self.search, self.said(fold[1])
        here = fold[0][fold[0] < search.judging]
        path = search.begun(said, np.setdiff1d(np.arange(len(said)), fold[0]))
        return FoldPath(here, path, said[here][None], np.zeros((0, len(here))))

    def longer(self, size: int, fold: FoldPath) -> FoldPath:
        """More pairs found without a fold, and what they gain its rows."""
        path = fold.path.longer(size)
        if path.is_ended:
            return replace(fold, path=path)
        search, here, step = self.search, fold.rows, path.steps[-1]
        found = [search.evidence(pair, here) for pair in step.pairs[len(fold.terms) - 1 :]]
        terms = np.concatenate([fold.terms, *(pair.said[None] for pair in found)])
        beside = np.concatenate([fold.beside, *(pair.beside[None] for pair in found)])
        start, labels, gained = search.start[here], search.labels[here], np.zeros(search.judging)
        less = losses(start + terms[0], labels) - losses(start + reported(terms, beside, step.weights), labels)
        gained[here] = less * search.weights[here]
        return FoldPath(here, path, terms, beside, (*fold.gained, gained))

    def found(self, step: Weighed) -> PairsFound:
        """Pairs as families, with their weights; those without weight are none."""
        heard = [index for index, weight in enumerate(step.weights[1:]) if weight > 0]
        beside, *strengths = step.weights.tolist()
        named = [[self.columns[column] for column in pair] for pair in step.pairs]
        return PairsFound(tuple(self.pair(strengths[index], *named[index]) for index in heard), beside)

    def pair(self, strength: float, first: ColumnBins, second: ColumnBins, third: ColumnBins = NO_BINS) -> Pair:
        """Columns as a family, believed so many times."""
        missing = self.missing_is_value
        return Pair(first=first, second=second, third=third, strength=strength, missing_is_value=missing)

    def weighed(self, step: Weighed, calibration: Calibration) -> Weighed:
        """The same pairs, weighed by all rows."""
        terms = np.empty((1 + len(step.pairs), *self.left.prior.shape))
        terms[0] = self.said(calibration)
        for index, pair in enumerate(step.pairs):
            terms[1 + index] = self.search.evidence(pair).said
        return step._replace(weights=PairLoss.of(terms, self.left).best(step.weights, CLOSELY))


def find_pairs(
    finder: Finder, calibration: Calibration, folds: Sequence[FoldCalibration], engine: Engine
) -> PairsJudged | None:
    """The pairs that pay, judged by rows that had no part in finding them; nothing where none do."""
    rows, classes = finder.left.prior.shape
    if rows < FEWEST_ROWS or classes > MOST_CLASSES or len(finder.columns) < 2:
        return None
    run = engine.map if len(finder.search.candidates) * rows * classes >= WORTH_THREADS else map
    whole = finder.search.begun(finder.said(calibration), np.arange(rows))
    by_fold, gained = list[FoldPath](), np.zeros((0, rows))
    for size in SIZES:
        whole = whole.longer(size)
        if whole.is_ended:
            break
        by_fold = list(run(partial(finder.longer, size), by_fold or list(run(finder.begun, folds))))
        gained = gained_by_step([fold.gained for fold in by_fold], len(whole.steps))
        if len(whole.steps) > PATIENCE + step_of_most(gained):
            break
    taken = best_step(gained) if by_fold else -1
    if taken < 0:
        return None
    without = [(ALONE, *fold.path.steps)[min(taken + 1, len(fold.path.steps))] for fold in by_fold]
    kept = finder.found(finder.weighed(whole.steps[taken], calibration))
    return PairsJudged(kept, tuple(map(finder.found, without))) if kept.pairs else None


def gained_by_step(by_fold: Sequence[tuple[FloatArray, ...]], steps: int) -> FloatArray:
    """What each step gained each row, [step, row], of what it gained by fold; a path that ended stays as it ended."""
    ended = [(*gained, *gained[-1:] * (steps - len(gained))) for gained in by_fold if gained]
    return np.sum([np.stack(gained) for gained in ended], axis=0) if ended else np.zeros((steps, 1))


def step_of_most(gained: FloatArray) -> int:
    """The step that gained most, of equals the first."""
    totals = [quantized_number(float(step.sum())) for step in gained]
    return totals.index(max(totals))


def best_step(gained: FloatArray) -> int:
    """The first step that pays, and that no other betters by a standard error; -1 where none pays."""
    best = step_of_most(gained)
    for step in range(best + 1):
        if is_more(gained[step], PAYS, BY_CHANCE) and (step == best or not is_more(gained[best] - gained[step], 1.0)):
            return step
    return -1


def is_more(gained: FloatArray, errors: float, least: float = 0.0) -> bool:
    """Whether what rows gained is more than so many of its standard errors, and than so many nats in all."""
    needed = max(least, errors * math.sqrt(len(gained) * float(gained.var())))
    return quantized_number(float(gained.sum())) > quantized_number(needed)


def loudness(left: LeftOut, calibration: Calibration, blocks: Sequence[Block]) -> dict[str, float]:
    """How much each column says, calibrated: the mean square of what it says beyond what all classes share."""
    found: dict[str, float] = {}
    for index, block in enumerate(blocks):
        said = np.maximum(left.terms[index], left.terms[index].max(axis=1, keepdims=True) - FARTHEST)
        amount = float(((calibration.factor(block.key) * (said - said.mean(axis=1, keepdims=True))) ** 2).mean())
        for column in block.columns:
            found[column] = max(found.get(column, 0.0), quantized_number(amount))
    return found


def reported(terms: FloatArray, beside: FloatArray, weights: FloatArray) -> FloatArray:
    """What columns and pairs say together, [row, class], each pair as far as the other rows of its cells support it."""
    said = weights[0] * terms[0]
    for index, strength in enumerate(weights[1:].tolist()):
        of_pair = terms[1 + index].copy()
        believe(of_pair, beside[index], strength)
        said += of_pair
    return np.asarray(said)


def losses(scores: FloatArray, labels: IntArray) -> FloatArray:
    """-log P(label) of each row."""
    return -log_normalised(scores, scores)[np.arange(len(labels)), labels]
