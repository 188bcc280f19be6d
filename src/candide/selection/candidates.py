"""Which families a column might have: those whose support holds its values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from candide.data.arrays import FloatArray
from candide.data.batch import Batch
from candide.data.errors import ColumnRefused
from candide.data.times import EARLIEST, LATEST, time_kind
from candide.families.base.family import Block, Family
from candide.families.base.smoothing import own_loo_smoothing
from candide.families.bernoulli import Bernoulli
from candide.families.calendar import PARTS, Calendar, parts_of
from candide.families.categorical import Categorical
from candide.families.exponential import Exponential
from candide.families.gamma import Gamma
from candide.families.gaussian import Gaussian
from candide.families.geometric import Geometric
from candide.families.histogram import Histogram
from candide.families.lognormal import Lognormal
from candide.families.negative_binomial import NegativeBinomial
from candide.families.poisson import Poisson
from candide.families.student import Student
from candide.model.summary import Summary

MANY_VALUES = 64
"""Numbers with more different values than this are no categories."""

FEW_VALUES = 12
"""Numbers with no more different values than this have no tail to speak of."""

LARGE_COUNT = 10_000
SMOOTHINGS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def candidates(guess: Family, column: Batch, everything: bool) -> list[Family]:
    """The families that may compete for one column, the guess first.

    Those with a narrower support than all numbers stand only where `everything` was seen: a row that comes later might
    not fit.
    """
    (name,) = column.names
    guess = replace(guess, column=name)
    if isinstance(guess, Categorical) and not holds_numbers(column):
        return [guess, replace(guess, grouped=True)]
    if isinstance(guess, Bernoulli) or not holds_numbers(column):
        return [guess]
    numbers = column.numbers([name])[:, 0]
    if holds_times(column):
        found = [guess, *timely(numbers[np.isfinite(numbers)], name)]
        return list(dict.fromkeys(replace(family, column=name) for family in found))
    found = [guess, *numeric(numbers[np.isfinite(numbers)], name, everything)]
    return list(dict.fromkeys(replace(family, column=name) for family in found))


def numeric(numbers: FloatArray, name: str, everything: bool) -> list[Family]:
    """The families of numbers whose support holds all of these."""
    values = np.unique(numbers)
    if len(values) <= 2:
        return [Categorical()]
    found: list[Family] = [Histogram().fitted_to(numbers, name), Gaussian(), Student()]
    if len(values) <= MANY_VALUES:
        found.append(Categorical())
    if len(values) <= FEW_VALUES:
        return found
    if everything and values[0] > 0:
        found += [Lognormal(), Gamma()]
    if everything and values[0] >= 0:
        found.append(Exponential())
    if everything and values[0] >= 0 and values[-1] <= LARGE_COUNT and bool((values == np.floor(values)).all()):
        found += [Poisson(), NegativeBinomial(), Geometric()]
    return found


def timely(seconds: FloatArray, name: str) -> list[Family]:
    """The families of times: when it was, or which weekday, month or hour, as far as there are several."""
    if not len(seconds):
        return []
    inside = seconds[(seconds >= EARLIEST) & (seconds <= LATEST)]
    when: list[Family] = [Histogram().fitted_to(seconds, name), Gaussian(), Student()]
    if len(inside) < len(seconds):
        return when
    year = int(np.median(inside.astype("datetime64[s]").astype("datetime64[Y]").astype(np.int64))) + 1970
    parts = [part for part in PARTS if len(np.unique(parts_of(inside, part))) > 1]
    return [*when, *(Calendar(part=part, year=year) for part in parts)]


def holds_times(column: Batch) -> bool:
    """Whether the column holds dates or times."""
    raw = column.columns.raw(0)
    return isinstance(raw, (pa.Array, pa.ChunkedArray)) and bool(time_kind(raw.type))


def holds_numbers(column: Batch) -> bool:
    """Whether every value of the column is a number (or missing), and nobody declared them to be categories."""
    raw = column.columns.raw(0)
    if isinstance(raw, (pa.Array, pa.ChunkedArray)) and pa.types.is_dictionary(raw.type):
        return False
    try:
        column.numbers(column.names)
    except ColumnRefused:
        return False
    return True


def smoothed_by_itself(family: Family, column: Batch) -> Family:
    """The family with the smoothing under which its own counts, each row left out, are likeliest: no pass is needed."""
    if not family.adds_counts:
        return family
    seen = Summary.of((Block(family, column.names),), column).statistics[0]
    counts = family.smoothed_counts(seen)
    return family if counts is None else replace(family, smoothing=own_loo_smoothing(counts, SMOOTHINGS))
