"""A text block in a stream."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.errors import ForgetRefused, OverflowRefused
from candide.data.texts import SURROGATES
from candide.data.values import is_missing
from candide.families.text import Text
from candide.families.words.documents import not_text
from candide.families.words.options import TextOptions
from candide.families.words.vocabulary import grown
from candide.families.words.word_tally_builder import WordTallyBuilder
from candide.kernels.word_counting import refill_pairs
from candide.kernels.word_streaming import Running, State, forget_text, learn_text, score_text, state_of
from candide.kernels.words import PAIRS_FULL, Number
from candide.model.summary import refuse_impossible
from candide.statistics.tally import Tally
from candide.statistics.weight_grid import CEILING
from candide.statistics.word_tally import WordTally
from candide.stream.live import FEW_SLOTS, Cell, Live

UNSTEADY = ("\u03a3", "\u0130")
NEVER_LEARNED = (
    "Some of the words to forget were never learned with that label. Forget only documents that were learned."
)


class RunningWords(WordTallyBuilder):
    """A word tally in the making that is asked while it learns, so it keeps the totals at hand."""

    def __init__(self, options: TextOptions, classes: int) -> None:
        super().__init__(options, classes)
        whole = np.dtype(np.int64)
        self.running = Running(np.zeros(max(classes, 2), whole), np.zeros(self.room, whole), np.zeros(1, whole))
        self.gathered: tuple[Any, ...] = (None,) * 5

    @classmethod
    def over(cls, options: TextOptions, seen: WordTally) -> Self:
        builder = super().over(options, seen)
        assert isinstance(builder, cls)
        numbers = builder._numbers(seen.lines, learning=False)
        builder.running.words[numbers] = seen.word_totals
        builder.running.totals[: seen.classes] = seen.class_totals
        builder.running.known[0] = len(seen)
        return builder

    def grow(self, classes: int) -> None:
        super().grow(classes)
        if classes > len(self.running.totals):
            totals: IntArray = np.zeros(2 * classes, dtype=np.int64)
            totals[: len(self.running.totals)] = self.running.totals
            self.running = self.running._replace(totals=totals)

    def _follow_vocabulary(self) -> None:
        super()._follow_vocabulary()
        factor = self.room // len(self.running.words)
        if factor > 1:
            self.running = self.running._replace(words=grown(self.running.words, factor))

    def freeze(self) -> WordTally:
        """The canonical tally, which shares nothing with what goes on learning."""
        return self.spelled()

    def reserve(self, size: int) -> None:
        """Refuse, before anything is counted, what could make a count exceed 2^62."""
        added = (size + 1.0) * self.recipe.ngrams * self.options.unit
        self.count_bound += added
        if self.count_bound > CEILING:
            self.count_bound = float(self.running.totals.max()) + added
        if self.count_bound > CEILING:
            raise OverflowRefused("A count could exceed 2^62.")

    def most_terms(self) -> int:
        """How many terms there may be where none was forgotten: those counted, and what longer runs are made of."""
        parts = 1 if self.recipe.shortest == 1 else 2 * self.recipe.ngrams
        return parts * int(self.running.known[0])

    def _make_room(self, reason: Number) -> None:
        """Where pairs fill their hash, leave behind those that fell to zero before making it larger."""
        pairs = self.tallies.pairs
        if reason == PAIRS_FULL and 2 * np.count_nonzero(pairs[1::2]) <= self.tallies.used[0]:
            self.tallies = self.tallies._replace(pairs=np.zeros_like(pairs))
            refill_pairs(pairs, self.tallies.pairs, self.tallies.used)
        else:
            super()._make_room(reason)

    def learn_one(self, text: AnyArray, size: int, label: int, weight: float = 1) -> None:
        """Add one text."""
        while (answer := learn_text(text, size, label, weight, self.state)) < 0:
            self._make_room(answer)

    def forget_one(self, text: AnyArray, size: int, label: int, only_ask: bool) -> None:
        """Take one text away, or only ask whether that could be done."""
        while (answer := forget_text(text, size, label, only_ask, self.state)) < 0:
            self._make_room(answer)
        if answer:
            raise ForgetRefused(NEVER_LEARNED)

    def score_one(
        self, text: AnyArray, size: int, scale: float, smoothing: float, complement: bool, joint: FloatArray
    ) -> float:
        """Add what one text says into joint[class]; how much its terms weigh, known or not."""
        while (answer := score_text(text, size, scale, smoothing, complement, joint, self.state)) < 0:
            self._make_room(int(answer))
        return answer

    @property
    def state(self) -> State:
        """All arrays as the kernels take them, gathered anew when one was replaced by a larger one."""
        terms, scratch, tallies, running = self.vocabulary.terms, self.scratch, self.tallies, self.running
        last = self.gathered
        if last[0] is not terms or last[1] is not scratch or last[2] is not tallies or last[3] is not running:
            flat = state_of(self.reader, self.weighting, tallies, running)
            self.gathered = (terms, scratch, tallies, running, flat)
        state: State = self.gathered[4]
        return state


class LiveText(Live):
    """Text under any model."""

    def holds(self, index: int) -> bool:
        return bool(self.builder.tallies.documents.any())


class LiveWords(LiveText):
    """Text under a multinomial or complement model, judged straight from the running counts."""

    family: Text
    builder: RunningWords

    def builder_over(self, seen: WordTally) -> RunningWords:
        return RunningWords.over(self.family.options, seen)

    def read(self, cells: list[Cell]) -> tuple[AnyArray, int] | None:
        text = self._text(cells, strict=True)
        if text is not None:
            self.builder.reserve(text[1])
        return text

    def learn(self, values: tuple[AnyArray, int] | None, label: int) -> None:
        if values is not None:
            self.builder.learn_one(*values, label, self.weight)

    def refuse_missing(self, values: tuple[AnyArray, int] | None, label: int, left: Tally) -> None:
        if values is not None:
            self.builder.forget_one(*values, label, True)
        texts = int(self.builder.tallies.documents[label]) - (values is not None)
        if texts > left.counts[0, label]:
            refuse_impossible(f"more texts in '{self.columns[0]}' than rows")
        if values is not None and (texts == 0 or self.family.options.weighting in ("presence", "unit")):
            self._try_without(values, label, left)

    def _try_without(self, values: tuple[AnyArray, int], label: int, left: Tally) -> None:
        """Look at every word that would be left."""
        self.builder.forget_one(*values, label, False)
        try:
            refuse_impossible(self.family.impossible(self.freeze(), tuple(self.columns), left))
        finally:
            self.builder.learn_one(*values, label)

    def take_away(self, values: tuple[AnyArray, int] | None, label: int) -> None:
        if values is not None:
            self.builder.forget_one(*values, label, False)

    def is_sparse(self) -> bool:
        return self.builder.given > 2 * self.builder.most_terms() + FEW_SLOTS

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        text = self._text(cells, strict=False)
        if text is None:
            return 0.0
        complement = self.family.options.model == "complement"
        return self.builder.score_one(*text, self.scale, float(self.family.smoothing), complement, joint)

    def _text(self, cells: list[Cell], strict: bool) -> tuple[AnyArray, int] | None:
        for _, name, value in cells:
            letters = utf8_of(value, name, strict, self.family.options.lowered_first)
            if letters is not None:
                return np.frombuffer(letters or b"\0", dtype=np.uint8), len(letters)
            return None
        return None


def utf8_of(value: Any, name: str, strict: bool, lowered: bool) -> bytes | None:
    """A text as UTF-8, lone surrogates replaced; None where it is missing or, unless strict, no text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").lower().encode() if lowered else value
    if isinstance(value, str):
        try:
            letters = value.encode()
        except UnicodeEncodeError:
            value = SURROGATES.sub("\ufffd", value)
            letters = value.encode()
        if lowered and not value.isascii() and any(character in value for character in UNSTEADY):
            letters = value.lower().encode()
        return letters
    if not strict or is_missing(value):
        return None
    raise not_text(name, f"{value!r}")
