"""What is pictured: a model taken apart into profiles, and what every class begins with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.errors import ColumnRefused, Location, OptionRefused
from candide.data.values import shown
from candide.families.base.family import Block
from candide.families.base.profile import EVENTS, Profile
from candide.families.pairs.linear_table import LinearTable
from candide.families.pairs.pair_look import PairLook
from candide.families.words.parameters import TextParameters
from candide.model.predictor import Predictor
from candide.show.pictures.occurrences import Occurrences
from candide.statistics.cells import Cells

CLASSES_DRAWN = 6
"""There are so many colours that everybody can tell apart."""


@dataclass(frozen=True)
class Subject:
    """The classes, the score each begins with (the prior), and a profile for each feature.

    `events` tells how occurrences weigh, by feature. `joined` are features whose evidence cannot be split: they have
    pictures, but what each says cannot be added up.
    """

    classes: tuple[str, ...]
    prior: FloatArray
    start: FloatArray
    profiles: tuple[Profile, ...]
    label: str = ""
    events: Mapping[str, Occurrences] = field(default_factory=dict)
    joined: frozenset[str] = frozenset()
    cells: Mapping[str, Cells] = field(default_factory=dict)
    """Where the numbers of some columns lie."""
    bias: FloatArray | float = 0.0
    """What is added to each class where something is known."""
    pairs: tuple[PairLook, ...] = ()
    """Columns that also speak together."""
    layer: Mapping[str, Occurrences] = field(default_factory=dict)
    """How a linear layer weighs the words of some columns."""
    products: tuple[LinearTable, FloatArray] | None = None
    """How a linear layer reads the values of a table, and the weights of these and of products of two."""

    @classmethod
    def of(cls, model: Predictor, label: str | None = None) -> Subject:
        """A fitted model, ready to be drawn."""
        profiles: list[Profile] = []
        events: dict[str, Occurrences] = {}
        joined: set[str] = set()
        for index, block in enumerate(model.blocks):
            found = model.profiles_of(index)
            profiles += found
            rules = {one.column: Occurrences.of(model, index) for one in found if one.kind == EVENTS}
            events |= rules
            joined |= {name for name, rule in rules.items() if rule.certain}
            joined |= {one.column for one in found if cannot_be_split(block)}
        classes, prior = tuple(shown(key) for key in model.classes), np.exp(model.log_prior)
        told, together = tuple(profiles), frozenset(joined)
        name, bias = label or "", model.bias
        begin = model.reported_prior
        layer, products = {}, None
        for block, weights in model.layer:
            if isinstance(block.family, LinearTable):
                products = block.family, np.asarray(weights)
            elif isinstance(weights, TextParameters):
                layer[block.columns[0]] = Occurrences.of_layer(weights, block.columns[0])
        return cls(classes, prior, begin, told, name, events, together, model.cells, bias, model.pairs, layer, products)

    @property
    def ranked(self) -> tuple[Profile, ...]:
        """The profiles, the most telling first."""
        return tuple(sorted(self.profiles, key=lambda one: -one.information))

    @property
    def drawn(self) -> tuple[int, ...]:
        """The classes that have a colour: all, or the commonest where there are many."""
        commonest = np.argsort(-self.prior, kind="stable")[:CLASSES_DRAWN]
        return tuple(sorted(commonest.tolist()))

    def occurrences(self, profile: Profile) -> Occurrences:
        """How the words of a feature weigh."""
        nothing = np.zeros(len(self.classes))
        return self.events.get(profile.column, Occurrences("counts", profile.factor, 0.0, nothing))

    def profile(self, column: str) -> Profile:
        """A feature by its name."""
        for profile in self.profiles:
            if profile.column == column:
                return profile
        known = [profile.column for profile in self.profiles]
        raise ColumnRefused.of_name(
            f"There is no picture of column '{column}'.", column, known, where=Location(column=column)
        )

    def pair(self, first: str | None = None, second: str | None = None) -> tuple[int, int]:
        """Two classes to set against each other: as named, else the second of two, or the two commonest."""
        if len(self.classes) < 2:
            raise OptionRefused("There is only one class, so there is nothing to weigh against it.")
        commonest = np.argsort(-self.prior, kind="stable").tolist()
        usual = [1, 0] if len(self.classes) == 2 else commonest
        named = [None if name is None else self.number(name) for name in (first, second)]
        one = named[0] if named[0] is not None else next(index for index in usual if index != named[1])
        other = named[1] if named[1] is not None else next(index for index in usual if index != one)
        if one == other:
            raise OptionRefused(
                f"'{self.classes[one]}' cannot be set against itself.",
                advice="Name two classes.",
                where=Location(value=self.classes[one]),
                expected="two classes",
            )
        return one, other

    def number(self, name: str) -> int:
        """A class by its name."""
        if name not in self.classes:
            raise OptionRefused.of_name(f"There is no class '{name}'.", name, self.classes)
        return self.classes.index(name)


def cannot_be_split(block: Block) -> bool:
    """Whether the columns of a block speak together, so that there is no saying which of them said what."""
    return block.family.is_joint and len(block.columns) > 1
