"""Three answers: the class; "unsure", no class is probable enough; "unfamiliar", no row that was learned is like it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.data.values import as_array
from candide.model.novelty import Familiarity
from candide.model.predictor import Predictor, log_sum, normalised

UNSURE, UNFAMILIAR = "unsure", "unfamiliar"
CONFIDENCE = 0.9
RARITY = 0.01


class Decided(NamedTuple):
    """The best class of each row, its probability, and how often a learned row is expected as little."""

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


def decided(model: Predictor, familiarity: Familiarity | None, batch: Batch) -> Decided:
    """Judge the rows, and say how expected they are."""
    scores = model.reported(batch)
    posterior = normalised(scores, model.log_prior)
    expected = how_expected(model, familiarity, batch)
    hopeless = ~np.isfinite(scores.max(axis=1))
    return Decided(posterior.argmax(axis=1), posterior, np.where(hopeless, 0.0, expected))


def how_expected(model: Predictor, familiarity: Familiarity | None, batch: Batch) -> FloatArray:
    """The chance that a row like those learned is expected as little as each of these; 0 where nothing is known of it.

    Each block's log P per column or word is ranked among the rows learned, each left out.
    """
    shape = (len(model.blocks), len(batch))
    logs, observed = np.zeros(shape), np.zeros(shape)
    for place, (block, parameters) in enumerate(zip(model.blocks, model.parameters, strict=True)):
        family, columns = block.family, block.columns
        if family.is_beside:
            continue
        said = np.tile(model.log_prior, (len(batch), 1))
        family.log_likelihood(parameters, family.view(batch, columns), said)
        logs[place] = log_sum(said) + family.strangeness(parameters, batch, columns)
        observed[place] = family.observed(parameters, batch, columns)
    return (familiarity or Familiarity()).chances(model.blocks, logs, observed)


def answers(model: Predictor, decisions: Decided, confidence: float, rarity: float) -> AnyArray:
    """The labels, with the two words in place of those that are not given."""
    found = as_array(model.classes).astype(object)[decisions.best]
    states = decisions.states(confidence, rarity)
    found[states != ""] = states[states != ""]
    return found


def refuse_no_share(name: str, value: float) -> None:
    """Raise unless a number is a share."""
    if not 0 <= value <= 1:
        raise OptionRefused(f"{name} must be a number from 0 to 1, not {value!r}.")
