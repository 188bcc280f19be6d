"""From word counts to what each word says: four event models, all in terms of the (word, class) pairs that occurred.

A pair that never occurred has no count, so what its word says depends on the word and the class apart: base[word] +
default[class]. That is why no table of words by classes is needed, however many there are of both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.cached import cached_property
from candide.families.base.safe_log import safe_log
from candide.kernels.word_scoring import PAIR_SHIFT, Weights, fill_table

NO_FLOATS, NO_INTEGERS = np.zeros(0), np.zeros(0, dtype=np.int64)
#: Up to this many classes a table of words by classes is faster than pairs.
CLASSES_IN_A_TABLE = 32
#: With more classes, a table may have so many cells for each pair that occurred.
CELLS_A_PAIR = 2
#: A word that one in so many classes has seen has a line of its own, as long as lines have no more cells than this.
CLASSES_A_LINE, MOST_LINES = 6, 4_000_000


@dataclass(frozen=True)
class Seen:
    """The counts that models are made of: those of the kept words, by pair, and the totals of all words."""

    indptr: IntArray
    labels: AnyArray
    counted: IntArray
    unit: float
    """What pairs have is in units, so many of which are one."""
    factor: FloatArray
    """What the counts of each word are multiplied by, where they are."""
    classes: int
    documents: FloatArray
    all_words: int
    all_totals: FloatArray

    @property
    def kept_words(self) -> int:
        return len(self.indptr) - 1

    @property
    def counts(self) -> FloatArray:
        """The count of each pair, worked out whenever it is asked for: it would lie idle while texts are answered."""
        counts = self.counted / self.unit
        return counts * np.repeat(self.factor, np.diff(self.indptr)) if self.factor.size else counts

    @cached_property
    def words(self) -> IntArray:
        """The word of each pair."""
        return np.repeat(np.arange(self.kept_words), np.diff(self.indptr))

    def by_class(self, numbers: FloatArray) -> FloatArray:
        """One number a pair, summed by class."""
        return np.bincount(self.labels, numbers, self.classes).astype(np.float64)

    def by_word(self, numbers: FloatArray) -> FloatArray:
        """One number a pair, summed by word."""
        return np.bincount(self.words, numbers, self.kept_words).astype(np.float64)


def multinomial(seen: Seen, smoothing: float) -> Weights:
    """log((count + smoothing) / (all + smoothing * V)): each occurrence is a draw from the class's words."""
    values = seen.counts
    totals = seen.by_class(values) + smoothing * seen.kept_words
    nothing = totals == 0
    wholes = safe_log(np.where(nothing, max(seen.kept_words, 1), totals))
    values += smoothing
    safe_log(values, out=values)
    values -= wholes[seen.labels]
    default = np.where(nothing, 0.0, safe_log(smoothing)) - wholes
    return weights(seen, values, np.zeros(seen.kept_words), default)


def complement(seen: Seen, smoothing: float) -> Weights:
    """Minus the log share of the word in all other classes together (Rennie et al. 2003)."""
    counts = seen.counts
    totals = seen.by_class(counts)
    has_all = np.bincount(seen.labels, minlength=seen.classes) == len(counts)
    others = np.where(has_all, 0.0, counts.sum() - totals) + smoothing * seen.kept_words
    nothing = others == 0
    wholes = safe_log(np.where(nothing, max(seen.kept_words, 1), others))
    of_word = seen.by_word(counts)
    base = -safe_log(of_word + smoothing)
    left = np.maximum(of_word[seen.words] - counts, 0.0) + smoothing
    own = np.where(nothing[seen.labels], 0.0, -safe_log(left))
    values = own + wholes[seen.labels] - base[seen.words]
    return weights(seen, values, base, wholes)


def bernoulli(seen: Seen, smoothing: float) -> Weights:
    """log P(word is there) against log P(it is not): absence is said once for all words, presence makes it good."""
    there, counts = seen.documents[seen.labels], seen.counts
    absent = there - counts + smoothing
    certain = absent == 0
    nothing = seen.documents + 2 * smoothing == 0
    with np.errstate(invalid="ignore"):
        values = np.where(certain, np.inf, safe_log(counts + smoothing) - safe_log(absent))
        default = np.where(nothing, 0.0, safe_log(smoothing) - safe_log(seen.documents + smoothing))
        absence = safe_log(seen.documents + smoothing) - safe_log(seen.documents + 2 * smoothing)
    unheard = np.where(nothing, -np.log(2.0), absence)
    more = np.where(certain, safe_log(there), safe_log(absent)) - safe_log(there + 2 * smoothing) - unheard[seen.labels]
    constant = seen.kept_words * unheard + seen.by_class(more)
    made = weights(seen, values, np.zeros(seen.kept_words), default)._replace(constant=constant)
    if not certain.any():
        return made
    return made._replace(certain=np.bincount(seen.labels[certain], minlength=seen.classes).astype(np.int64))


def poisson(seen: Seen, smoothing: float) -> Weights:
    """Each word occurs at a rate per token of text, whatever the others do: the document's length is the exposure.

    Rates are (count + smoothing) / (all + smoothing * V) over all words ever seen, so those kept need not sum to one.
    """
    totals = seen.all_totals + smoothing * seen.all_words
    nothing, counts = totals == 0, seen.counts
    wholes = np.where(nothing, max(seen.all_words, 1), totals)
    values = safe_log(counts + smoothing) - safe_log(wholes)[seen.labels]
    default = np.where(nothing, 0.0, safe_log(smoothing)) - safe_log(wholes)
    rate = -(seen.by_class(counts) + np.where(nothing, 1.0, smoothing) * seen.kept_words) / wholes
    return weights(seen, values, np.zeros(seen.kept_words), default)._replace(rate=rate)


MODELS: dict[str, Callable[[Seen, float], Weights]] = {
    "multinomial": multinomial,
    "complement": complement,
    "bernoulli": bernoulli,
    "poisson": poisson,
}


def weights(seen: Seen, values: FloatArray, base: FloatArray, default: FloatArray) -> Weights:
    """What pairs, words and classes say, as a table where classes are few or most pairs occurred, and pairs are not."""
    cells = seen.kept_words * seen.classes
    table, indptr, labels = np.zeros((seen.kept_words, 0)), np.array(seen.indptr), np.array(seen.labels)
    if seen.classes <= CLASSES_IN_A_TABLE or cells <= CELLS_A_PAIR * len(values):
        table = np.empty((seen.kept_words, seen.classes))
        fill_table(indptr, labels, values, base, default, table)
    if table.size:
        indptr, labels, values, entries, lines = NO_INTEGERS, labels[:0].copy(), NO_FLOATS, NO_INTEGERS, table[:0]
    else:
        entries, lines = entries_and_lines(seen, values, default)
    return Weights(
        rows=NO_INTEGERS,
        first=0,
        factor=NO_FLOATS,
        table=table,
        indptr=indptr,
        labels=labels,
        values=values,
        base=base,
        has_base=bool(base.any()),
        default=default,
        entries=entries,
        lines=lines,
        constant=np.zeros(seen.classes),
        certain=NO_INTEGERS,
        rate=NO_FLOATS,
    )


def entries_and_lines(seen: Seen, values: FloatArray, default: FloatArray) -> tuple[IntArray, FloatArray]:
    """Where what each word says is found, and the lines of words that many classes have seen, base apart."""
    held_by, most = np.diff(seen.indptr), MOST_LINES // seen.classes
    if seen.classes >> PAIR_SHIFT:
        return NO_INTEGERS, np.zeros((0, seen.classes))
    entries: IntArray = (seen.indptr[:-1] << PAIR_SHIFT) + held_by
    wide = np.flatnonzero(CLASSES_A_LINE * held_by >= seen.classes)
    wide = np.sort(wide[np.argsort(-held_by[wide], kind="stable")[:most]])
    if not len(wide) or np.isposinf(values).any():
        return entries, np.zeros((0, seen.classes))
    entries[wide] = -1 - np.arange(len(wide))
    lines, of_pair = np.tile(default, (len(wide), 1)), entries[seen.words]
    pairs = np.flatnonzero(of_pair < 0)
    lines[-1 - of_pair[pairs], seen.labels[pairs]] = values[pairs]
    return entries, lines
