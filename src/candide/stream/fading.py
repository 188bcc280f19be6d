"""A stream that forgets by itself: an event's weight halves every so many events, for a world that drifts.

Counts are doubles here. In place of shrinking all of them after each event, each event weighs more than the last, and
what is asked is divided by the newest weight; when that grows large all counts are scaled down at once.
"""

from __future__ import annotations

import math
import threading
from copy import deepcopy
from typing import Any, NoReturn

import numpy as np

from candide.data.advice import NamedOption, PythonCode, SetOption
from candide.data.arrays import FloatArray, IntArray
from candide.data.errors import Location, OptionRefused
from candide.families.base.family import AnyFamily
from candide.families.base.streaming import BY_MOMENTS, BY_VALUES, BY_WORDS
from candide.families.words.options import TextOptions
from candide.kernels.densities import add_densities
from candide.model.trained_model import TrainedModel
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally, TallyBuilder
from candide.statistics.word_tally import WordTally
from candide.stream.live import Cell, Live
from candide.stream.live_sums import LiveDensity
from candide.stream.live_tallies import LiveCategories
from candide.stream.live_words import LiveWords, RunningWords
from candide.stream.running_sums import Densities
from candide.stream.stream import Stream

HEAVIEST = 2.0**32
FAINTEST = 2.0**-64


class FadingStream(Stream):
    """A stream in which an event counts half as much after `half_life` further events.

    Such counts are no whole numbers: rows cannot be taken back, models not merged, and there is no exact summary.
    """

    keeps_open = False

    def __init__(self, learned: TrainedModel, half_life: float) -> None:
        if learned.summary.rows:
            raise OptionRefused(
                NamedOption("half_life"),
                ": this model has learned rows that do not fade.",
                advice="Begin with a new one.",
            )
        if isinstance(half_life, bool) or not isinstance(half_life, (int, float)) or not 0 < half_life < math.inf:
            raise OptionRefused.of_option("half_life", "a number of events above zero, or None", half_life)
        if learned.options.ledger:
            raise OptionRefused(
                NamedOption("half_life"),
                ": rows that fade cannot be counted in a ledger.",
                advice="Leave one of the two out.",
            )
        super().__init__(learned)
        self.half_life = half_life
        self.step = 2.0 ** (1.0 / half_life)
        self.weight = 1.0
        self.counts = self.counts.astype(np.float64)

    def __reduce__(self) -> Any:
        return restored, ({name: value for name, value in self.__dict__.items() if name != "events"},)

    def __deepcopy__(self, memo: dict[int, Any]) -> FadingStream:
        with self.events:
            _, state = self.__reduce__()
            return restored(*deepcopy(state, memo))

    def learn(self, x: Any, y: Any) -> bool:
        """Learn one row, which weighs more than the one before."""
        with self.events:
            self._weigh(self.weight * self.step)
            try:
                return super().learn(x, y)
            except BaseException:
                self._weigh(self.weight / self.step)
                raise

    def forget(self, x: Any, y: Any) -> NoReturn:
        raise OptionRefused(
            SetOption("half_life", self.half_life),
            ": old rows have faded and cannot be taken back exactly.",
            advice=("Use ", SetOption("half_life", None), " to forget."),
        )

    def freeze(self) -> NoReturn:
        raise OptionRefused(
            SetOption("half_life", self.half_life),
            ": the counts are fading decimals, not an exact summary that could be saved, merged, forget rows or "
            "predict many at once.",
            advice=(
                "Ask row by row with ", PythonCode("predict_one"), " and ", PythonCode("predict_proba_one"),
                ", or use ", SetOption("half_life", None), ".",
            ),
        )

    def live(self, family: AnyFamily, columns: list[str], seen: Any) -> Live:
        kind = kind_of(family)
        if kind is None:
            raise OptionRefused(
                NamedOption("half_life"),
                f" is for text (multinomial counts), categorical and gaussian columns, but '{columns[0]}' is "
                f"{family.name}.",
                advice=("Choose another family for it, or ", SetOption("half_life", None), "."),
                where=Location(column=columns[0], value=family.name),
                expected="text (multinomial counts), categorical or gaussian",
            )
        block = kind(family, columns, seen)
        block.weight, block.scale = self.weight, 1.0 / self.weight
        return block

    def _weigh(self, weight: float) -> None:
        """Let the next event weigh this much; scale everything down where that is too much."""
        if weight > HEAVIEST:
            self.counts /= weight
            self.rows /= weight
            for block in self.live_blocks.values():
                block.builder.shrink(1.0 / weight)
                if isinstance(block, FadingCategories):
                    block.shrink(1.0 / weight)
            weight = 1.0
            self._list_classes()
        self.weight = weight
        for block in self.live_blocks.values():
            block.weight, block.scale = weight, 1.0 / weight


def open_stream(learned: TrainedModel, half_life: float | None) -> Stream:
    """A stream over what was learned, in which rows fade or do not."""
    return Stream(learned) if half_life is None else FadingStream(learned, half_life)


def restored(state: dict[str, Any]) -> FadingStream:
    """A stream as it was when it was pickled."""
    stream = FadingStream.__new__(FadingStream)
    stream.__dict__.update(state, events=threading.RLock())
    return stream


def kind_of(family: AnyFamily) -> type[Live] | None:
    """The block that lets a family's counts fade; none where the family needs whole ones."""
    return FADING.get((family.statistic, family.live)) if family.fades else None


class FadingWords(RunningWords):
    """A word tally of doubles; a word that has faded away is unknown again."""

    def __init__(self, options: TextOptions, classes: int) -> None:
        super().__init__(options, 2)
        self.tallies = self.tallies._replace(
            table=self.tallies.table.astype(np.float64), documents=self.tallies.documents.astype(np.float64)
        )
        self.running = self.running._replace(
            totals=self.running.totals.astype(np.float64), words=self.running.words.astype(np.float64)
        )
        self.grow(classes)

    def grow(self, classes: int) -> None:
        """Make room for more classes: always a table, as doubles cannot be kept by pairs."""
        more = max(classes, 2 * self.tallies.table.shape[1]) - self.tallies.table.shape[1]
        if classes > self.tallies.table.shape[1]:
            self.tallies = self.tallies._replace(
                table=np.pad(self.tallies.table, ((0, 0), (0, more))),
                documents=np.pad(self.tallies.documents, (0, more)),
            )
            self.running = self.running._replace(totals=np.pad(self.running.totals, (0, more)))
        self.classes = classes

    def shrink(self, factor: float) -> None:
        """Scale all counts; forget the words that are too faint to matter."""
        tallies, running = self.tallies, self.running
        faint = running.words * factor < FAINTEST
        tallies.table[faint] = 0.0
        running.words[faint] = 0.0
        for counts in (tallies.table, tallies.documents, running.totals, running.words):
            np.multiply(counts, factor, out=counts)
        running.known[0] = np.count_nonzero(running.words)


class FadingText(LiveWords):
    """Text whose old words fade."""

    def builder_over(self, seen: WordTally) -> FadingWords:
        return FadingWords(self.family.options, seen.classes)


class FadingTally(TallyBuilder):
    """A tally of doubles."""

    def shrink(self, factor: float) -> None:
        """Scale all counts."""
        self.table *= factor


class FadingCategories(LiveCategories):
    """Categories whose old rows fade; one that has faded away is unknown again."""

    def builder_over(self, seen: Tally) -> FadingTally:
        super().builder_over(seen)
        self.totals = self.totals.astype(np.float64)
        return FadingTally((), seen.classes, np.float64)

    def shrink(self, factor: float) -> None:
        """Scale the totals, and leave out the values that are too faint to matter."""
        self.totals *= factor
        for (name, *_), index in self.builder.index_of.items():
            faint = 0 < self.seen[index] * factor < FAINTEST
            self.different[self.positions[name]] -= faint
            self.seen[index] = 0.0 if faint else self.seen[index] * factor


class FadingMoments:
    """Weight, mean and spread of numbers of growing weight (West 1979)."""

    __slots__ = ("mean", "spread", "weight")

    def __init__(self) -> None:
        self.weight = self.mean = self.spread = 0.0

    def add(self, value: float, weight: float) -> None:
        """Add a number."""
        gap = value - self.mean
        self.weight += weight
        self.mean += gap * (weight / self.weight)
        self.spread += weight * gap * (value - self.mean)

    def moments(self, scale: float) -> tuple[float, float, float]:
        """Weight, mean and deviation."""
        deviation = math.sqrt(self.spread / self.weight) if self.weight else 0.0
        return self.weight * scale, self.mean, deviation


class FadingSums:
    """The moments of each [column][class], and of each column."""

    def __init__(self, densities: Densities, classes: int) -> None:
        columns = len(densities.codes)
        self.densities = densities
        self.entries = [[FadingMoments() for _ in range(classes)] for _ in range(columns)]
        self.overall = [FadingMoments() for _ in range(columns)]
        self.classes = classes
        self.scale = 1.0

    def widen(self, densities: Densities) -> None:
        """Take in more columns, so that they have these densities."""
        more = len(densities.codes) - len(self.overall)
        self.densities = densities
        self.entries += [[FadingMoments() for _ in range(self.classes)] for _ in range(more)]
        self.overall += [FadingMoments() for _ in range(more)]

    def grow(self, classes: int) -> None:
        """Make room for more classes."""
        for entries in self.entries:
            entries.extend(FadingMoments() for _ in range(classes - len(entries)))
        self.classes = classes

    def shrink(self, factor: float) -> None:
        """Scale all weights."""
        for entry in [*self.overall, *(entry for entries in self.entries for entry in entries)]:
            entry.weight *= factor
            entry.spread *= factor

    def moments(self) -> FloatArray:
        """Weight, mean and deviation of each (column, entry), that of all classes first, as `RunningSums` has them."""
        lines = zip(self.overall, self.entries, strict=True)
        table = [[entry.moments(self.scale) for entry in (overall, *entries)] for overall, entries in lines]
        return np.ascontiguousarray(np.array(table).transpose(2, 0, 1))

    def judge(self, places: IntArray, values: FloatArray, order: IntArray, joint: FloatArray) -> int:
        """Add what values[i] in column places[i] say into joint[class]; how many of them said something."""
        return add_densities(places, values, order, *self.densities, self.moments(), joint)


class FadingNumbers(LiveDensity):
    """Numbers under a bell curve whose old rows fade."""

    builder: FadingSums  # type: ignore[assignment]

    def builder_over(self, seen: Sums) -> Any:
        self.places = np.arange(len(self.columns))
        return FadingSums(self._densities(), seen.classes)

    def _densities(self) -> Densities:
        return Densities.of([self.family] * len(self.columns))

    def widen(self, columns: list[str]) -> None:
        self.columns = [*self.columns, *columns]
        self.places = np.arange(len(self.columns))
        self.builder.widen(self._densities())

    def score(self, cells: list[Cell], order: IntArray, joint: FloatArray) -> float:
        self.builder.scale = self.scale
        return super().score(cells, order, joint)

    def learn(self, values: FloatArray, label: int) -> None:
        for column, value in enumerate(values.tolist()):
            if value == value:
                self.builder.entries[column][label].add(value, self.weight)
                self.builder.overall[column].add(value, self.weight)


FADING: dict[tuple[type, str], type[Live]] = {
    (Tally, BY_VALUES): FadingCategories,
    (Sums, BY_MOMENTS): FadingNumbers,
    (WordTally, BY_WORDS): FadingText,
}
"""The blocks whose old rows fade, by statistic and the way a family may be judged from it."""
