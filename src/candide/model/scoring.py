"""Adding up how answers compare with labels: sums of whole units, the same bits in any order and any split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import FIRST_ROW
from candide.data.cached import cached_property
from candide.data.errors import RowsRefused
from candide.data.grid import first_largest
from candide.data.metrics import BINS, LEAST_LOG, UNIT, bin_of, own_losses, squares, units
from candide.data.values import Coded, Key, shown
from candide.model.evaluation import Bin, Evaluation, Suspect
from candide.model.ranking import counted_cells, log_odds, rankings
from candide.statistics.weight_grid import FINEST, amounts, in_ones

SUSPECTS = 20
"""So many rows whose label looks wrong are named, unless more or fewer are asked for."""

CLEARLY = 10
"""A label looks wrong where the answer is at least so many times as probable."""


@dataclass(frozen=True)
class LabelledPosteriors:
    """What was said of some rows, beside what they are."""

    classes: tuple[Key, ...]
    log_posterior: FloatArray
    """log P(class | row), [row, class]."""
    truths: Coded
    labels: IntArray
    """The class number of each row's label; -1 where nothing was known of its class."""
    weights: AnyArray
    numbers: IntArray
    """Where each row is in the data, from 0."""
    surprise: float = -LEAST_LOG
    """What it costs, in nats, that nothing was known of a class."""

    @cached_property
    def bits(self) -> int:
        """How small the units are in which the weights are whole: ones, unless one is not whole."""
        return 0 if (self.weights == np.floor(self.weights)).all() else FINEST

    @cached_property
    def weight_units(self) -> IntArray:
        """The weights in those units."""
        return np.asarray(np.ldexp(self.weights, self.bits) if self.bits else self.weights).astype(np.int64)

    @property
    def losses(self) -> FloatArray:
        """-log P(own label), row by row."""
        return np.where(self.labels >= 0, own_losses(self.log_posterior, self.labels), self.surprise)

    def pairs(self, best: IntArray) -> dict[tuple[Key, Key], int]:
        """The weight of the rows by label and answer."""
        kinds, which = np.unique(self.truths.codes * len(self.classes) + best, return_inverse=True)
        totals = np.zeros(len(kinds), dtype=np.int64)
        np.add.at(totals, which, self.weight_units)
        codes = zip(*(part.tolist() for part in np.divmod(kinds, len(self.classes))), strict=True)
        pairs = ((self.truths.keys[truth], self.classes[answer]) for truth, answer in codes)
        return {pair: total for pair, total in zip(pairs, totals.tolist(), strict=True) if total}

    def bins(self, best: IntArray, chance: FloatArray) -> AnyArray:
        """Weight, weight of what is right, and probability in units, by 15 bins: object[3, bin], of any size."""
        right = np.where(best == self.labels, self.weight_units, 0)
        found = np.zeros((3, BINS), dtype=object)
        which = bin_of(chance)
        for index in np.unique(which).tolist():
            here = which == index
            weights = self.weight_units[here]
            found[:, index] = int(weights.sum()), int(right[here].sum()), units(chance[here], weights)
        return found

    def cells(self, posterior: FloatArray) -> dict[Key, IntArray]:
        """The weight of the rows of each class, and of all, by the log odds of the class."""
        index = {key: number for number, key in enumerate(self.classes)}
        own = self.truths.renumbered(index)
        counts = counted_cells(log_odds(self.log_posterior, posterior), own, self.weight_units)
        return dict(zip(self.classes, counts, strict=True))

    def suspects(self, posterior: FloatArray, best: IntArray, most: int) -> tuple[Suspect, ...]:
        """The rows whose answer is far more probable than their label; the least probable labels first."""
        rows = np.arange(len(best))
        own, chance = posterior[rows, self.labels], posterior[rows, best]
        found = np.flatnonzero((self.labels >= 0) & (self.weights > 0) & (chance >= CLEARLY * own))
        first = found[np.lexsort((self.numbers[found], own[found]))][:most]
        names = [shown(key) for key in self.classes]
        label, answer = ([names[index] for index in indices[first]] for indices in (self.labels, best))
        columns = own[first].tolist(), self.numbers[first].tolist(), label, answer, chance[first].tolist()
        return tuple(map(Suspect, *columns))


@dataclass(frozen=True)
class Score:
    """Sums over judged rows; scores of parts add up to the score of the whole, exactly."""

    pairs: Mapping[tuple[Key, Key], int] = field(default_factory=dict)
    loss: int = 0
    brier: int = 0
    bins: AnyArray = field(default_factory=lambda: np.zeros((3, BINS), dtype=object))
    suspects: tuple[Suspect, ...] = ()
    unknown_classes: frozenset[Key] = frozenset()
    """Labels of which nothing was known where they had to be judged."""
    most: int = SUSPECTS
    """How many suspects are kept."""
    bits: int = 0
    """Rows weigh so many units of 2^-bits."""
    cells: Mapping[Key, IntArray] = field(default_factory=dict)
    """The weight of the rows of a class, and of all, by its log odds: [2, cell]."""

    @classmethod
    def of(cls, answers: LabelledPosteriors, most: int = SUSPECTS, ranked: bool = True) -> Score:
        """The sums over some rows; how they are ranked costs the most, and need not be told."""
        best = first_largest(answers.log_posterior)
        posterior = np.exp(answers.log_posterior)
        chance = posterior[np.arange(len(best)), best]
        lost = np.unique(answers.truths.codes[(answers.labels < 0) & (answers.weights > 0)])
        return cls(
            answers.pairs(best),
            units(answers.losses, answers.weight_units),
            units(squares(posterior, answers.labels), answers.weight_units),
            answers.bins(best, chance),
            answers.suspects(posterior, best, most),
            frozenset(answers.truths.keys[code] for code in lost.tolist()),
            most,
            answers.bits,
            answers.cells(posterior) if ranked else {},
        )

    def _in_units(self, bits: int) -> Score:
        """The same sums, in units as small or smaller."""
        times = 1 << (bits - self.bits)
        return replace(
            self,
            pairs={pair: times * count for pair, count in self.pairs.items()},
            loss=times * self.loss,
            brier=times * self.brier,
            bins=times * self.bins,
            bits=bits,
            cells={key: times * counts for key, counts in self.cells.items()},
        )

    def __add__(self, other: Score) -> Score:
        if self.bits != other.bits:
            bits = max(self.bits, other.bits)
            return self._in_units(bits) + other._in_units(bits)
        pairs = dict(self.pairs)
        for pair, count in other.pairs.items():
            pairs[pair] = pairs.get(pair, 0) + count
        cells = dict(self.cells)
        for key, counts in other.cells.items():
            cells[key] = cells[key] + counts if key in cells else counts
        return Score(
            pairs,
            self.loss + other.loss,
            self.brier + other.brier,
            self.bins + other.bins,
            tuple(sorted((*self.suspects, *other.suspects))[: self.most]),
            self.unknown_classes | other.unknown_classes,
            self.most,
            self.bits,
            cells,
        )

    def at(self, indices: IntArray) -> Score:
        """The same, where the first row was row `indices[0]` of the data, the next row `indices[1]`, and so on."""
        return replace(self, suspects=tuple(replace(row, row=int(indices[row.row])) for row in self.suspects))

    def evaluation(
        self, kind: str, label: str | None, classes: Iterable[Key], notes: Sequence[str] = ()
    ) -> Evaluation:
        """What follows from the sums, with rows counted as people count them."""
        known = sorted(classes)
        truths = sorted({*known, *(truth for truth, _ in self.pairs)})
        names = names_of(truths)
        confusion = amounts(crossed(self.pairs, truths, known), self.bits)
        rows, unit = in_ones(sum(self.pairs.values()), self.bits), UNIT * 2.0**self.bits
        if not rows:
            raise RowsRefused(
                "There is not a single row to judge.",
                advice="Give at least one, with its label.",
                expected="a row with its label",
            )
        return Evaluation(
            kind,
            label,
            tuple(names[key] for key in known),
            tuple(names.values()),
            confusion,
            self.loss / unit / rows,
            self.brier / unit / rows / (2 if len(truths) <= 2 else 1),
            tuple(
                Bin(index / BINS, (index + 1) / BINS, in_ones(here, self.bits), in_ones(right, self.bits), sure / unit)
                for index, (here, right, sure) in enumerate(self.bins.T.tolist())
            ),
            tuple(replace(row, row=row.row + FIRST_ROW) for row in self.suspects),
            tuple(names[key] for key in sorted(self.unknown_classes)),
            tuple(notes),
            rankings(self.cells, self.label_weights, names, self.bits),
        )

    @property
    def label_weights(self) -> dict[Key, int]:
        """The weight of the rows by label."""
        weights = dict[Key, int]()
        for (truth, _), weight in self.pairs.items():
            weights[truth] = weights.get(truth, 0) + weight
        return weights


def crossed(pairs: Mapping[tuple[Key, Key], int], truths: Sequence[Key], answers: Sequence[Key]) -> IntArray:
    """The weight of each pair of label and answer, as a table."""
    row, column = ({key: index for index, key in enumerate(keys)} for keys in (truths, answers))
    table = np.zeros((len(truths), len(answers)), dtype=np.int64)
    for (truth, answer), weight in pairs.items():
        table[row[truth], column[answer]] = weight
    return table


def names_of(labels: Sequence[Key]) -> dict[Key, str]:
    """What each label is called; those that read alike say their kind.

    >>> list(names_of([("number", 1), ("text", "1"), ("text", "fig")]).values())
    ['1 (number)', '1 (text)', 'fig']
    """
    often = Counter(map(shown, labels))
    return {key: shown(key) if often[shown(key)] == 1 else f"{shown(key)} ({key[0]})" for key in labels}


def classes_in_words(classes: Iterable[Key]) -> str:
    """The classes as the start of a sentence.

    >>> classes_in_words([("text", "fig")]), classes_in_words([("text", "plum"), ("text", "fig")])
    ("Class 'fig' has", "2 classes ('fig', 'plum') have")
    """
    names = [f"'{shown(key)}'" for key in sorted(classes)]
    if len(names) == 1:
        return f"Class {names[0]} has"
    return f"{len(names):,} classes ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''}) have"
