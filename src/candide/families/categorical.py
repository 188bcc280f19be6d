"""One of several values: a colour, a country, a ticket class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.arrays import AnyArray, FloatArray, IntArray
from candide.bases.family import Family, Term
from candide.bases.smoothed import log_shares
from candide.batch import Batch
from candide.kernels.counting import count_codes
from candide.kernels.scoring import add_lookup
from candide.statistics.tally import Tally, TallyBuilder
from candide.values import Coded, Key, shown

MISSING: Key = ("missing", "")


@dataclass(frozen=True)
class Values:
    """The values one column has shown, and log P(value | class) as table[value, class]."""

    keys: tuple[Key, ...]
    table: FloatArray


@dataclass(frozen=True)
class Categorical(Family):
    """Each value of a column has its own share in each class: (count + smoothing) / (rows + smoothing * values).

    A value never seen is no evidence. Missing is no evidence either, unless `missing_is_value`.
    """

    smoothing: float = 1.0
    missing_is_value: bool = False
    adds_counts = True

    def builder(self, columns: tuple[str, ...], classes: int) -> TallyBuilder:
        return TallyBuilder((), classes)

    def builder_over(self, seen: Tally) -> TallyBuilder:
        return TallyBuilder.over(seen)

    def read(self, batch: Batch, columns: tuple[str, ...]) -> list[tuple[str, Coded]]:
        return [(name, self._column(batch, name)) for name in columns]

    view = read

    def _column(self, batch: Batch, name: str) -> Coded:
        coded = batch.categories(name)
        if not self.missing_is_value:
            return coded
        keys = (MISSING, *coded.keys)
        return Coded(coded.codes + 1, keys)

    def learn(
        self, builder: TallyBuilder, values: list[tuple[str, Coded]], labels: IntArray, weights: AnyArray
    ) -> None:
        for name, coded in values:
            builder.reserve(len(coded), weights)
            places = builder.place([(name, *key) for key in coded.keys])
            count_codes(np.append(places, -1)[coded.codes], labels, weights, builder.table)

    def fit(self, seen: Tally, columns: tuple[str, ...]) -> dict[str, Values]:
        places: dict[str, list[int]] = {name: [] for name in columns}
        keys: dict[str, list[Key]] = {name: [] for name in columns}
        for place, (name, kind, value) in enumerate(seen.open_slots):
            places[name].append(place)
            keys[name].append((kind, value))
        return {
            name: Values(tuple(keys[name]), log_shares(seen.counts[places[name]], self.smoothing)) for name in columns
        }

    def score(
        self, parameters: dict[str, Values], values: list[tuple[str, Coded]], joint: FloatArray
    ) -> None:
        for name, coded in values:
            known = {key: place for place, key in enumerate(parameters[name].keys)}
            add_lookup(coded.renumbered(known), parameters[name].table, joint)

    def terms(
        self, parameters: dict[str, Values], values: list[tuple[str, Coded]], columns: tuple[str, ...]
    ) -> list[Term]:
        spoken = []
        for name, coded in values:
            key = coded.keys[coded.codes[0]] if coded.codes[0] >= 0 else None
            if key in parameters[name].keys:
                evidence = parameters[name].table[parameters[name].keys.index(key)]
                spoken.append(Term(name, shown(key), evidence))
        return spoken

    def sample(
        self, parameters: dict[str, Values], label: int, rows: int, rng: np.random.Generator
    ) -> list[AnyArray | list[Any]]:
        drawn: list[AnyArray | list[Any]] = []
        for column in parameters.values():
            values = [None if key == MISSING else key[1] for key in column.keys]
            if not values:
                drawn.append([None] * rows)
                continue
            picked = rng.choice(len(values), rows, p=np.exp(column.table[:, label]))
            drawn.append([values[place] for place in picked])
        return drawn
