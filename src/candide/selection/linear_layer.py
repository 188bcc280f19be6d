"""Linear refinement of text: what words and pairs of words add to what naive Bayes says, fitted on whole rows.

Naive Bayes counts what repeats itself twice, and cannot know that a word matters less beside another. A layer of one
weight for each term and class repairs that (Wang & Manning 2012). It begins where naive Bayes ends: the score of each
row is what all others say of it, calibrated, and the layer has the least log loss beyond that, held to nothing by a
penalty. So a strong penalty is naive Bayes, and a weak one a linear model. How strong it is, and whether the layer
pays, is judged by folds of the rows that had no part in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from candide.data.advice import SetOption
from candide.data.arrays import FloatArray, IntArray
from candide.data.cached import cached_property
from candide.data.errors import OptionRefused
from candide.data.grid import quantized_number
from candide.engines.protocol import Engine
from candide.families.base.family import Block
from candide.families.words.linear_text import UNITS, LinearTerms, LinearText, whole_units
from candide.families.words.term_lists import cut_into_terms
from candide.kernels.linear_refining import RowClasses, TermRows, add_layer, visit_rows
from candide.model.linear_layer import LinearLayer, refined_families
from candide.selection.find_pairs import BY_CHANCE, PAYS, is_more, losses
from candide.selection.folds import choice_folds
from candide.selection.layer_start import LayerStart
from candide.selection.leave_one_out import LeaveOneOut

STRENGTHS = (2.0, 0.5, 0.125, 0.03125)
"""Tried in this order; rows have a length of about one."""
JUDGES = 2
"""So many of the folds judge strengths."""
NEAR_CLASSES, FARTHEST = 8.0, 30.0
"""A class so many nats behind a row's best one is left aside; none is taken to be farther behind than that."""
MOST_VISITS, CLOSELY, SETTLED, EVERYONE = 101, 2e-2, 4e-3, 5
"""Rows are visited until no chance changes by more, but so often at most; those that settled only every fifth time."""


@dataclass(frozen=True, eq=False)
class LayerRows:
    """Rows with what naive Bayes says of each without it, and the terms that the layer weighs."""

    terms: TermRows
    columns: tuple[tuple[str, list[bytes]], ...]
    """The columns, and how their terms are spelled: numbered one column after the other."""
    start: FloatArray
    labels: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, leaving: LeaveOneOut, blocks: Sequence[Block], start: FloatArray, weights: FloatArray) -> LayerRows:
        """Rows as a layer beside these blocks sees them; `start` is what is said of each, [row, class]."""
        read = [column_terms(leaving, block) for block in blocks]
        sizes = [len(words) for _, words in read]
        together = joined_columns([rows for rows, _ in read], np.cumsum([0, *sizes[:-1]]).tolist())
        named = tuple((block.columns[0], words) for block, (_, words) in zip(blocks, read, strict=True))
        return cls(together, named, within_reach(start), leaving.labels, weights)

    def beginning(self, start: FloatArray) -> LayerRows:
        """The same rows, with other scores to begin with."""
        return replace(self, start=within_reach(start))

    @cached_property
    def squares(self) -> FloatArray:
        """The squared length of each row."""
        return np.add.reduceat(np.append(self.terms.amounts**2, 0.0), self.terms.indptr[:-1]) * (
            np.diff(self.terms.indptr) > 0
        )

    @cached_property
    def classes(self) -> RowClasses:
        """The probable classes of each row; nothing found of them yet."""
        rows = np.arange(len(self.labels))
        near = self.start >= self.start.max(axis=1, keepdims=True) - NEAR_CLASSES
        near[rows, self.labels] = True
        indptr = np.concatenate([[0], np.cumsum(near.sum(axis=1))]).astype(np.int64)
        own = indptr[:-1] + near.cumsum(axis=1)[rows, self.labels] - 1
        labels, chances = np.nonzero(near)[1].astype(np.int32), np.zeros(indptr[-1])
        chances[own] = 1.0
        return RowClasses(indptr, labels, self.start[near], chances)

    def begun(self) -> LayerInProgress:
        """A layer that adds nothing yet."""
        terms = sum(len(words) for _, words in self.columns)
        classes = self.classes._replace(chances=self.classes.chances.copy())
        return LayerInProgress(self, classes, np.zeros((terms, self.start.shape[1])))

    def losses(self, here: IntArray, added: FloatArray | None = None) -> FloatArray:
        """What some rows cost, with what was added to their scores."""
        scores = self.start[here] if added is None else self.start[here] + added
        return losses(scores, self.labels[here]) * self.weights[here]


@dataclass(eq=False)
class LayerInProgress:
    """What terms add so far, and the chances of rows that belong to it."""

    rows: LayerRows
    classes: RowClasses
    added: FloatArray
    strength: float = 0.0

    def fitted(self, wanted: IntArray, strength: float) -> LayerInProgress:
        """The same, fitted to the wanted rows under a strength, from where it was under another."""
        if self.strength:
            self.added *= self.strength / strength
        self.strength, rows = strength, self.rows
        given = rows.terms, rows.squares, rows.weights, self.classes
        changes = np.ones(len(rows.labels))
        for visit in range(MOST_VISITS):
            everyone = visit % EVERYONE == 0
            farthest = visit_rows(*given, wanted, strength, self.added, changes, 0.0 if everyone else SETTLED)
            if everyone and farthest < CLOSELY:
                break
        return self

    def said(self, here: IntArray) -> FloatArray:
        """What the layer adds to the score of each class of some rows."""
        scores = np.zeros((len(here), self.added.shape[1]))
        add_layer(self.rows.terms, here, np.rint(self.added * UNITS) / UNITS, scores)
        return scores


@dataclass(frozen=True, eq=False)
class LayerJudged:
    """A layer, and what layers that each row had no part in add to its score."""

    layer: LinearLayer
    said: FloatArray


@dataclass(frozen=True, eq=False)
class LayerTrial:
    """Rows to fit layers on, dealt into folds that judge them."""

    rows: LayerRows
    begin: LayerStart
    wanted: IntArray
    folds: list[IntArray]

    @classmethod
    def of(cls, begin: LayerStart, folds: IntArray, blocks: Sequence[Block]) -> LayerTrial:
        """The rows as a layer of these readings sees them."""
        left = begin.left
        rows = LayerRows.of(begin.leaving, blocks, begin.scores(), np.where(left.vanished, 0.0, left.weights))
        return cls(rows, begin, np.flatnonzero(rows.weights > 0), choice_folds(folds))

    def without(self, fold: int) -> tuple[LayerInProgress, IntArray]:
        """A layer to be fitted without a fold, and the rows for it."""
        rest = np.setdiff1d(self.wanted, self.folds[fold])
        return self.rows.beginning(self.begin.scores_of(rest)).begun(), rest

    def path(self, fold: int) -> list[FloatArray]:
        """What layers without a fold add to its rows, by strength, until a weaker one does not help more."""
        (layer, rest), here, found, least = self.without(fold), self.folds[fold], list[FloatArray](), np.inf
        for strength in STRENGTHS:
            found.append(layer.fitted(rest, strength).said(here))
            lost = self.lost(fold, found[-1])
            if lost > least:
                break
            least = lost
        return found

    def lost(self, fold: int, said: FloatArray | None = None) -> float:
        """What the rows of a fold cost in all, with what was added to their scores."""
        return quantized_number(float(self.rows.losses(self.folds[fold], said).sum()))

    def judged(self, fold: int, tried: Sequence[FloatArray], strength: int) -> FloatArray:
        """What a layer of some strength adds to the rows of a fold."""
        if strength < len(tried):
            return tried[strength]
        layer, rest = self.without(fold)
        return layer.fitted(rest, STRENGTHS[strength]).said(self.folds[fold])


def refined_layer(trial: LayerTrial, engine: Engine, must_pay: bool) -> LayerJudged | None:
    """The layer for some rows; nothing where rows that had no part in it are judged no better, and it must pay."""
    judges, dealt = range(JUDGES), range(len(trial.folds))
    tried = list(engine.map(trial.path, judges))
    lost = [[trial.lost(fold, said) for said in tried[fold]] for fold in judges]
    chosen = least_lost(lost)
    if must_pay and sum(line[min(chosen, len(line) - 1)] for line in lost) >= sum(map(trial.lost, judges)):
        return None
    best = [least_lost([lost[judge] for judge in judges if judge != fold]) for fold in dealt]
    rows, said = trial.rows, np.zeros(trial.rows.start.shape)
    asked = [(fold, tried[fold] if fold < JUDGES else (), best[fold]) for fold in dealt]
    for here, scores in zip(trial.folds, engine.map(lambda one: trial.judged(*one), asked), strict=True):
        said[here] = scores
    everyone = np.arange(len(said))
    if must_pay and not is_more(rows.losses(everyone) - rows.losses(everyone, said), PAYS, BY_CHANCE):
        return None
    whole, leaving = rows.begun().fitted(trial.wanted, STRENGTHS[chosen]), trial.begin.leaving
    found = LinearLayer(leaving.classes, layer_terms(rows, whole.added), STRENGTHS[chosen], leaving.summary.rows)
    return LayerJudged(found, said)


def within_reach(start: FloatArray) -> FloatArray:
    """Scores, none of them farther behind the best of its row than could be made good."""
    return np.asarray(np.maximum(start, start.max(axis=1, keepdims=True) - FARTHEST))


def least_lost(lost: Sequence[Sequence[float]]) -> int:
    """The strength with the least loss in all, the first of those nearly as good."""
    totals = [sum(one) for one in zip(*lost, strict=False)]
    return totals.index(min(totals))


def layer_terms(rows: LayerRows, added: FloatArray) -> dict[str, LinearTerms]:
    """What was found, by column."""
    ends = np.cumsum([len(words) for _, words in rows.columns])
    tables = np.split(whole_units(added), ends[:-1])
    return {name: LinearTerms.of(words, table) for (name, words), table in zip(rows.columns, tables, strict=True)}


def readings_of(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """How a layer reads the columns that blocks read as texts."""
    families = refined_families(blocks)
    return tuple(Block(LinearText.beside(families[name]), (name,)) for name in sorted(families))


def refuse_no_texts(readings: Sequence[Block]) -> None:
    """Raise where a layer was asked for and there is no column for it."""
    if not readings:
        raise OptionRefused(
            SetOption("refine", "linear"),
            " needs a column of text, all of whose words have a say and a name.",
            advice=("Leave it out, or use ", SetOption("refine", "auto"), "."),
        )


def column_terms(leaving: LeaveOneOut, block: Block) -> tuple[TermRows, list[bytes]]:
    """The terms of a column that several rows hold, row by row with their amounts, and how they are spelled."""
    options = block.family.options  # type: ignore[attr-defined]  # a layer reads texts
    lists = cut_into_terms(leaving.rows(block).values, options)
    rows, shared = lists.shared_terms(options.weighting), lists.shared
    numbers = np.flatnonzero(shared.places >= 0)
    numbers = numbers[np.argsort(shared.places[numbers])]
    offsets, letters = lists.vocabulary.spelled(numbers, options.characters)
    spelled = letters.tobytes()
    words = [spelled[start:end] for start, end in zip(offsets.tolist(), offsets[1:].tolist(), strict=False)]
    return TermRows(rows.indptr, rows.terms, rows.amounts / options.unit), words


def joined_columns(columns: Sequence[TermRows], offsets: Sequence[int]) -> TermRows:
    """The terms of several columns, those of each numbered from its offset on."""
    if len(columns) == 1:
        return columns[0]
    sizes = np.array([np.diff(rows.indptr) for rows in columns])
    indptr = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))]).astype(np.int64)
    terms, amounts = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1])
    before = indptr[:-1] + np.cumsum(sizes, axis=0) - sizes
    for rows, start, offset, size in zip(columns, before, offsets, sizes, strict=True):
        places = np.arange(len(rows.terms)) + np.repeat(start - rows.indptr[:-1], size)
        terms[places], amounts[places] = rows.terms + offset, rows.amounts
    return TermRows(indptr, terms, amounts)
