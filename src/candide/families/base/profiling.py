"""Being drawn as a picture: what the values of each column look like in each class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.families.base.core import B, Cells, Core, Drawn, P, S, V
from candide.families.base.grid_points import worth_seeing
from candide.families.base.profile import COUNTS, CURVE, VALUES, Profile, information, reaches_beyond

DRAWN = 400
"""So many values are drawn to see where a family's values lie."""

NAMED = 40
"""So many of the values drawn are shown, the commonest, where they are no numbers."""

WIDENINGS = 5
"""Where a class reaches beyond the points looked at, they are spread twice as wide; so many times are tried."""


class Profiling(Core[S, B, V, P]):
    """By default one column at a time, from what the family draws, takes and says: a curve of numbers, or values."""

    def profiles(self, parameters: P, seen: S, columns: tuple[str, ...], prior: FloatArray) -> list[Profile]:
        """What the values of each column look like in each class; `prior` are the classes' probabilities."""
        drawn = self._drawn(parameters, len(prior))
        if all(is_numbers(values) for of_class in drawn for values in of_class):
            centres, spreads = self.centre_and_spread(parameters, seen, len(prior))
            return [
                self._curve(parameters, columns, index, centres[index], spreads[index], prior)
                for index in range(len(columns))
            ]
        return [self._values(parameters, columns, index, drawn, prior) for index in range(len(columns))]

    def _drawn(self, parameters: P, classes: int) -> list[Drawn]:
        """Some values of each class."""
        rng = np.random.default_rng(0)
        return [self.sample(parameters, label, DRAWN, rng) for label in range(classes)]

    def _curve(
        self,
        parameters: P,
        columns: tuple[str, ...],
        index: int,
        centre: FloatArray,
        spread: FloatArray,
        prior: FloatArray,
    ) -> Profile:
        for _ in range(WIDENINGS):
            found, widths, whole = worth_seeing(centre, spread, self.takes)
            table = self.marginal_log_likelihood(parameters, columns, index, found, len(prior))
            beyond = reaches_beyond(table, widths)
            if not beyond.any():
                break
            with np.errstate(over="ignore"):
                spread = np.where(beyond, 2 * np.maximum(spread, 1e-3 * np.abs(centre)), spread)
        told = float(information(table, prior, widths))
        kind, named = COUNTS if whole else CURVE, self.named_parameters(parameters, index)
        return Profile(columns[index], kind, found, table, widths, information=told, parameters=named)

    def _values(
        self, parameters: P, columns: tuple[str, ...], index: int, drawn: Sequence[Drawn], prior: FloatArray
    ) -> Profile:
        """The commonest of some values that were drawn, and what each says."""
        common = Counter(value for of_class in drawn for value in of_class[index] if value is not None)
        found = [value for value, _ in common.most_common(NAMED)]
        table = self.marginal_log_likelihood(parameters, columns, index, found, len(prior))
        told = float(information(table, prior)) if found else 0.0
        return Profile(columns[index], VALUES, tuple(map(str, found)), table, information=told)

    def named_parameters(self, parameters: P, index: int) -> dict[str, FloatArray]:
        """The parameters of one column by name, each [class], where they have names."""
        return {}

    def takes(self, numbers: FloatArray) -> AnyArray:
        """Which of some numbers the family can take in a column: it is asked one by one."""
        return np.array([self._takes_one(number) for number in numbers.tolist()], dtype=bool)

    def _takes_one(self, number: float) -> bool:
        try:
            self.read(Batch.of({"number": [number]}), ("number",))
        except CandideError:
            return False
        return True

    def centre_and_spread(self, parameters: P, seen: S, classes: int) -> tuple[FloatArray, FloatArray]:
        """About where the values of each (column, class) lie, where they are numbers: from what the family draws."""
        drawn = np.array([list(of_class) for of_class in self._drawn(parameters, classes)], dtype=np.float64)
        low, middle, high = np.quantile(np.nan_to_num(drawn), [0.16, 0.5, 0.84], axis=2)
        return middle.T, (0.5 * high - 0.5 * low).T

    def marginal_log_likelihood(
        self, parameters: P, columns: tuple[str, ...], index: int, values: Cells, classes: int
    ) -> FloatArray:
        """What values of one column say where all others are missing, [value, class]."""
        nothing = np.full(len(values), np.nan) if is_numbers(values) else [None] * len(values)
        batch = Batch.of({name: values if here == index else nothing for here, name in enumerate(columns)})
        said = np.zeros((len(values), classes))
        self.score(parameters, self.view(batch, columns), said)
        return said


def is_numbers(values: Cells) -> bool:
    """Whether what was drawn are numbers."""
    return isinstance(values, np.ndarray) and values.dtype.kind in "fiu"
