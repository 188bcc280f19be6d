"""Three answers: the class; "unsure", no class is probable enough; "unfamiliar", no row that was learned is like it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.values import as_array
from candide.model.novelty import UNMEASURED, Novelty
from candide.model.predictor import Predictor, normalised

UNSURE, UNFAMILIAR = "unsure", "unfamiliar"
CONFIDENCE = 0.9
RARITY = 0.01


class Decided(NamedTuple):
    """The best class of each row, its probability, and the chance that a row like those learned is expected as little.

    That chance is 0 where nothing is known of a row, or no class could hold it.
    """

    best: IntArray
    posterior: FloatArray
    expected: FloatArray

    def states(self, confidence: float, rarity: float) -> AnyArray:
        """"", "unsure" or "unfamiliar" for each row; unfamiliar comes first."""
        refuse_no_share("confidence", confidence)
        refuse_no_share("rarity", rarity)
        top = self.posterior[np.arange(len(self.best)), self.best]
        unsure = np.where(top < confidence, UNSURE, "")
        return np.where(self.expected < rarity, UNFAMILIAR, unsure)


def decided(model: Predictor, novelty: Novelty | None, batch: Batch) -> Decided:
    """Judge the rows, and say how expected they are."""
    found = model.assess(batch)
    posterior = normalised(found.reported, model.log_prior)
    return Decided(posterior.argmax(axis=1), posterior, (novelty or UNMEASURED).chances(model.blocks, found))


def answers(model: Predictor, decisions: Decided, confidence: float, rarity: float) -> AnyArray:
    """The labels, with the two words in place of those that are not given."""
    found = as_array(model.classes).astype(object)[decisions.best]
    states = decisions.states(confidence, rarity)
    found[states != ""] = states[states != ""]
    return found


def refuse_no_share(name: str, value: float) -> None:
    """Raise unless a number is a share."""
    if not 0 <= value <= 1:
        raise OptionRefused.of_option(name, "a number from 0 to 1", value)
