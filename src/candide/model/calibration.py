"""From raw scores to probabilities that mean something: a bias for each class, a weight and a length power a block.

Raw naive Bayes adds up evidence as if no two columns ever said the same thing, so it is far too sure of itself. The
reported score of a class is log prior + b + sum over blocks of w * length^-g * (what the block says): still a sum with
one term for each feature, so it can still be explained.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from candide.data.arrays import FloatArray
from candide.data.values import Key


@dataclass(frozen=True)
class Calibration:
    """What is added to each class and what each block is multiplied by; whatever is not named stays as it is.

    Blocks go by their key, the name of their first column, so a class or a column learned later is not calibrated.
    """

    bias: Mapping[Key, float] = field(default_factory=dict)
    weight: Mapping[str, float] = field(default_factory=dict)
    power: Mapping[str, float] = field(default_factory=dict)

    def biases(self, classes: Sequence[Key]) -> FloatArray:
        """The bias of each class; 0 for a class that was not there."""
        return np.array([self.bias.get(key, 0.0) for key in classes])

    def is_silent(self, block: str) -> bool:
        """Whether a block has no weight at all: then not even what it calls impossible counts."""
        return self.weight.get(block, 1.0) == 0.0

    def silenced(self, blocks: Collection[str]) -> Calibration:
        """The same, with no weight for some blocks."""
        return replace(self, weight={key: 0.0 if key in blocks else value for key, value in self.weight.items()})

    def scaled(self, factor: float) -> Calibration:
        """The same, with all that is said beyond the prior multiplied."""
        if factor == 1.0:
            return self
        bias = {key: factor * value for key, value in self.bias.items()}
        return replace(self, bias=bias, weight={key: factor * value for key, value in self.weight.items()})

    def beside(self, weight: Mapping[str, float]) -> Calibration:
        """The same, with further blocks and their weights."""
        return replace(self, weight={**self.weight, **weight})

    def needs_length(self, block: str) -> bool:
        """Whether a block's factor depends on how much there is in the row."""
        return self.power.get(block, 0.0) != 0.0

    def factor(self, block: str, length: FloatArray | None = None) -> FloatArray:
        """What a block's evidence is multiplied by, row by row where length matters.

        >>> text = Calibration(weight={"text": 0.5}, power={"text": 0.5})
        >>> text.factor("text", np.array([4.0, 0.0])).tolist(), text.factor("age").tolist()
        ([[0.25], [0.5]], 1.0)
        """
        weight = self.weight.get(block, 1.0)
        if length is None or not self.needs_length(block):
            return np.array(weight)
        return discounted(weight, length[:, None], self.power[block])


def discounted(weight: float, length: FloatArray, power: float) -> FloatArray:
    """The factor of evidence of some length; what is shorter than one is not made more of.

    >>> discounted(0.5, np.array([4.0, 0.0]), 0.5).tolist()
    [0.25, 0.5]
    """
    return np.asarray(weight * np.maximum(length, 1.0) ** -power)


IDENTITY = Calibration()
