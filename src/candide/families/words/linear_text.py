"""Words and pairs of words as a linear layer weighs them: what they add to what naive Bayes says of a text.

The layer is fitted on whole rows (`selection/linear_layer.py`), so its weights are no counts: they are kept beside the
summary, and terms that it does not know say nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.texts import text_in_row
from candide.families.base.explaining import Term
from candide.families.text import Text
from candide.families.words.documents import Documents
from candide.families.words.event_models import NO_FLOATS, NO_INTEGERS, Seen, weights
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters, numbered
from candide.families.words.vocabulary import letters_of, recipe_of
from candide.families.words.word_places import places
from candide.kernels.word_merging import Lines
from candide.kernels.word_scoring import Weights
from candide.statistics.word_tally import WordTally, gathered, running

UNITS = 1 << 12
"""Weights are whole numbers of one part in so many: finer than anyone can see, coarser than machines differ."""


@dataclass(frozen=True, eq=False)
class LinearTerms:
    """What each term adds to each class, in parts of `UNITS`: terms sorted bytewise, pairs by class, none of them zero.

    >>> film = LinearTerms.of([b"good", b"bad film"], np.array([[-2, 2], [1, 0]]))
    >>> film.words, film == LinearTerms.of([b"bad film", b"good"], np.array([[1, 0], [-2, 2]]))
    ([b'bad film', b'good'], True)
    """

    lines: Lines

    @classmethod
    def of(cls, words: Sequence[bytes], table: IntArray) -> LinearTerms:
        """From spelled terms and a table of units, [term, class]."""
        order = [at for at in sorted(range(len(words)), key=words.__getitem__) if table[at].any()]
        there, labels = np.nonzero(table[order])
        spelled = [words[at] for at in order]
        return cls(
            Lines(
                offsets=running([len(word) for word in spelled]),
                letters=np.frombuffer(b"".join(spelled), dtype=np.uint8).copy(),
                indptr=running(np.bincount(there, minlength=len(order))),
                labels=labels.astype(np.int32),
                counts=table[order][there, labels].astype(np.int64),
                frequency=NO_INTEGERS.copy(),
            )
        )

    def __len__(self) -> int:
        """How many terms have a say."""
        return len(self.lines.offsets) - 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearTerms) and all(map(np.array_equal, self.lines, other.lines))

    __hash__ = None  # type: ignore[assignment]

    @property
    def words(self) -> list[bytes]:
        """The terms as they are spelled."""
        letters, offsets = self.lines.letters.tobytes(), self.lines.offsets.tolist()
        return [letters[start:end] for start, end in itertools.pairwise(offsets)]

    def kept(self, wanted: IntArray) -> LinearTerms:
        """Some of the terms, in order."""
        lines, letters = self.lines, gathered(self.lines.offsets, wanted)
        pairs = gathered(lines.indptr, wanted)
        found = running(np.diff(lines.offsets)[wanted]), lines.letters[letters], running(np.diff(lines.indptr)[wanted])
        return LinearTerms(Lines(*found, lines.labels[pairs], lines.counts[pairs], NO_INTEGERS.copy()))

    def relabelled(self, places: IntArray) -> LinearTerms:
        """The same with other numbers for classes, which keep their order; those below zero go."""
        lines = self.lines
        labels = places[lines.labels]
        stay = labels >= 0
        sizes = np.diff(running(stay.astype(np.int64))[lines.indptr])
        pairs = labels[stay].astype(np.int32), lines.counts[stay]
        kept = Lines(*lines[:2], running(sizes), *pairs, NO_INTEGERS.copy())
        return LinearTerms(kept).kept(np.flatnonzero(sizes))


@dataclass(frozen=True, eq=False)
class LinearParameters(TextParameters):
    """Terms that say what a layer found, in place of what counts say."""

    @classmethod
    def of_layer(cls, found: LinearTerms, options: TextOptions, classes: int) -> LinearParameters:
        """The weights of some terms, and a vocabulary to find them by."""
        lines, nothing = found.lines, np.zeros(classes)
        vocabulary, rows = numbered(lines, options)
        counted = lines.indptr, lines.labels, lines.counts, float(UNITS), NO_FLOATS
        seen = Seen(*counted, classes, nothing, len(found), nothing)
        tally = WordTally(lines, np.zeros(classes, dtype=np.int64))
        read_by = vocabulary, rows, letters_of(options), recipe_of(options)
        return cls(tally, options, 0.0, lines, seen, NO_FLOATS, *read_by)

    def _weights(self, model: str) -> Weights:
        """Other classes, and other terms, get nothing."""
        seen = self.seen
        made = weights(seen, seen.counts, np.zeros(seen.kept_words), np.zeros(seen.classes))
        return made._replace(rows=self.rows)


@dataclass(frozen=True)
class LinearText(Text):
    """The reading of a text that a layer weighs: different words and pairs of words, scaled to a length of one."""

    is_auxiliary: bool = True

    @classmethod
    def beside(cls, family: Any) -> LinearText:
        """The layer's reading of a column beside its first, which tells what words are."""
        plain = TextOptions(ngrams=2, weighting="unit")
        own = {name: getattr(family.options, name) for name in ("words", "fold_case", "fold_accents")}
        return cls(column=family.column, options=replace(plain, **own))

    def view_of_row(self, row: Mapping[str, Any], columns: tuple[str, ...]) -> Documents:
        """What is seen of a single row as streams have it."""
        return Documents.of([row.get(columns[0])], columns[0], strict=False)

    @property
    def aspect(self) -> str:
        """What calibration and explanations call it."""
        return "linear"

    def terms(
        self, parameters: TextParameters, values: Documents, row: Batch, columns: tuple[str, ...], seen: Any
    ) -> list[Term]:
        """What each term adds; it is no likelihood, and no counts lie behind it."""
        if not len(values) or (values.pieces[0].missing.size and values.pieces[0].missing[0]):
            return []
        lies, name = places(parameters, values, text_in_row(row, columns[0]) or ""), self._name(columns)
        found = []
        for number, amount in parameters.spoken(values)[0]:
            word, added = parameters.word(number), amount * parameters.says(number, parameters.score_weights)
            (run, words), said = lies[number], np.zeros_like(added)
            found.append(Term(f"{name}: {word}", "yes", said, None, columns[0], word, 1.0, run, words, added))
        return found


def whole_units(added: FloatArray) -> IntArray:
    """Weights in whole units."""
    return np.asarray(np.rint(added * UNITS).astype(np.int64))
