"""Being asked row by row: how a stream may judge straight from a statistic, without making parameters anew."""

from __future__ import annotations

from typing import NamedTuple

BY_VALUES = "values"
"""Each value of a column has its smoothed share in the tally, as `log_shares` has it."""
BY_TRUTHS = "truths"
"""Each column has a slot for no and one for yes, whose smoothed shares speak."""
BY_EVENTS = "events"
"""Each column is a kind of event with its smoothed share of all events, in the class or, as a score, outside it."""
BY_MOMENTS = "moments"
"""Parameters come from the moments of each (column, class), which are rounded from exact sums one by one."""
BY_WORDS = "words"
"""Each word has its smoothed share of all words, in the class or, as a score, outside it."""
BY_PAIRS = "pairs"
"""Two columns have a cell for each two of their bins, whose counts speak."""


class CompiledDensity(NamedTuple):
    """A density whose parameters a kernel makes of moments."""

    code: int
    """Which one it is in `kernels/densities.py`."""
    floor: float = 0.0
    """The variance is at least so many times that of the whole column, where the family has such a floor."""


class Streaming:
    """What a family says of being asked after every row."""

    @property
    def compiled_density(self) -> CompiledDensity | None:
        """Which density of the kernels it is; None where it is another."""
        return None

    @property
    def live(self) -> str:
        """By which of the ways above a stream may judge; none where parameters are made anew after each change."""
        return ""

    @property
    def fades(self) -> bool:
        """Whether it may be judged from decimals as well, in a stream whose old rows fade."""
        return False
