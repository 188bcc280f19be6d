"""How many of a known number of tries succeeded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, xlog1py, xlogy

from candide.data.arrays import FloatArray
from candide.data.errors import OptionRefused
from candide.families.base.competing import ColumnLook
from candide.families.base.density import Density, Parameters
from candide.families.base.density_moments import Moments
from candide.families.base.family import AnyFamily
from candide.families.base.saddle_point import PLAIN, log_choice, refined
from candide.families.base.support import Support


@dataclass(frozen=True)
class Binomial(Density):
    """Successes out of `trials`, such as right answers of ten: families={"answers": Binomial(trials=10)}."""

    smoothing: float = 1.0
    trials: int = 1
    called = ("chance",)
    formula = "binomial chance of {x} successes, each with chance {chance}"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.trials < 1 or self.trials != int(self.trials):
            raise OptionRefused.of_option("trials", "a whole number from 1 up", self.trials)

    @classmethod
    def candidates_for(cls, column: ColumnLook) -> list[AnyFamily]:
        """None: how many tries there were is for the user to say."""
        return []

    @property
    def support(self) -> Support:  # type: ignore[override]
        most = self.trials
        return Support(
            f"a whole number from 0 to {most} (trials={most})",
            lambda x: (x >= 0) & (x <= most) & (x == np.floor(x)),
            0,
            most,
            0,
        )

    def parameters(self, seen: Moments) -> Parameters:
        return (np.clip(seen.mean / self.trials, 0.0, 1.0),)

    def log_density(self, value: FloatArray, *parameters: FloatArray) -> FloatArray:
        (chance,) = parameters
        rest = self.trials - value
        choices = -np.log(self.trials + 1) - betaln(rest + 1, value + 1)
        said = np.asarray(choices + xlogy(value, chance) + xlog1py(rest, -chance))
        large = (self.trials > PLAIN) & (value > 0) & (rest > 0) & (chance > 0) & (chance < 1)
        return refined(said, large, log_choice, value, rest, chance, 1 - chance)

    def draw(self, rng: np.random.Generator, rows: int, *parameters: float) -> FloatArray:
        return rng.binomial(self.trials, parameters[0], rows).astype(float)
