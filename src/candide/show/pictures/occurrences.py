"""How occurrences of words weigh: what a word says depends on how often it is there, and on the length of the text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.words.parameters import TextParameters
from candide.model.calibration import IDENTITY, discounted
from candide.model.predictor import Predictor

COUNTS, PRESENCE, LOG, UNIT = "counts", "presence", "log", "unit"
SCALED = (LOG, UNIT)
"""Ways of counting that scale the amounts of a text to a Euclidean length of one."""
GRID = 2.0**32
"""Fractional amounts are whole multiples of 1 / GRID, as they are counted."""


@dataclass(frozen=True)
class Occurrences:
    """The reported score of a text: weight * length^-power * (constant + sum of amount * what the word says).

    `weighting` says what amount so many occurrences are. `length` is how much the words of a usual text weigh together:
    what a picture of single words supposes. `column` is what is read, and `characters` whether it is cut into runs of
    characters in place of words. `certain` tells that a class cannot lack some word, which no sum can say.
    """

    weighting: str
    weight: float
    power: float
    constant: FloatArray
    length: float = 1.0
    column: str = ""
    characters: bool = False
    certain: bool = False
    parameters: TextParameters | None = None
    """What all words of a text say, which a picture shows only some of."""

    @classmethod
    def of(cls, model: Predictor, index: int) -> Occurrences:
        """How a block weighs what occurs in it: as its recipe says for a text, plain counts for anything else."""
        block, parameters, calibration = model.blocks[index], model.parameters[index], model.calibration or IDENTITY
        weight, power = calibration.weight.get(block.key, 1.0), calibration.power.get(block.key, 0.0)
        nothing = np.zeros(len(model.classes))
        if not isinstance(parameters, TextParameters):
            return cls(COUNTS, weight, power, nothing)
        said, seen = parameters.score_weights, parameters.seen
        length = float(seen.all_totals.sum() / (seen.documents.sum() or 1.0))
        recipe, column, certain = parameters.options, block.columns[0], bool(said.certain.any())
        length = max(length, 1.0)
        rules = weight, power, said.constant, length, column, recipe.characters, certain
        return cls(recipe.weighting, *rules, parameters)

    @classmethod
    def of_layer(cls, parameters: TextParameters, column: str) -> Occurrences:
        """How a linear layer weighs the words of a column."""
        nothing = np.zeros(parameters.seen.classes)
        return cls(parameters.options.weighting, 1.0, 0.0, nothing, column=column, parameters=parameters)

    def spelled(self, word: object) -> str:
        """A word as it is shown: where characters are what counts, spaces are seen."""
        return str(word).replace(" ", "␣") if self.characters else str(word)

    @property
    def adds_up(self) -> bool:
        """Whether each word says the same in every text, however long."""
        return self.power == 0.0 and self.weighting not in SCALED

    @property
    def factor(self) -> float:
        """What the words of a usual text are multiplied by."""
        return float(discounted(self.weight, np.array(self.length), self.power))

    @property
    def beginning(self) -> FloatArray:
        """What a usual text says before any word is looked at."""
        return self.factor * self.constant

    def usual_amount(self, times: int) -> float:
        """How much so many occurrences are in a usual text.

        >>> Occurrences("counts", 1.0, 0.0, np.zeros(2)).usual_amount(2)
        2.0
        """
        if self.weighting in SCALED:
            return float(np.log2(1.0 + times) if self.weighting == LOG else times > 0) / self.length
        return float(self.amounts(np.array([times]))[0])

    def amounts(self, times: FloatArray) -> FloatArray:
        """How much the occurrences of each of a text's words are, where these are all its words."""
        if self.weighting in SCALED:
            raised = np.log1p(times) if self.weighting == LOG else times > 0
            return np.asarray(np.rint(raised / max(float(np.sqrt((raised * 1.0) @ raised)), 1e-300) * GRID) / GRID)
        return np.asarray(times > 0 if self.weighting == PRESENCE else times, dtype=np.float64)

    def score(self, times: FloatArray, table: FloatArray) -> FloatArray:
        """What a text says about each class, where word w occurs times[w] and says table[w]; nothing if it is empty."""
        if not times.any():
            return np.zeros(table.shape[1])
        amounts = self.amounts(times)
        return discounted(self.weight, amounts.sum(), self.power) * (self.constant + amounts @ table)
