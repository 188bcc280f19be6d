"""How much rows without a label may count, and for how many steps, by labelled rows that had no part in them.

Nigam, McCallum, Thrun and Mitchell (2000) weigh such rows by a factor chosen by leave-one-out (EM-lambda). Here every
fifth of the labelled rows is answered by what all others and the expected counts teach, calibrated without that fifth;
no weight at all is among the candidates, and stays unless another gains more than chance would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.grid import quantized, quantized_number
from candide.data.progress import Size, Watch, counted, unwatched
from candide.data.values import Key
from candide.families.base.learning_in_part import LearnedInPart
from candide.model.calibration import Calibration
from candide.selection.em import Mixture, MixtureStep
from candide.selection.fit_calibration import Calibrating
from candide.selection.folds import CHOICES, choice_folds, dealt_by_label
from candide.selection.leave_one_out import LeftOut

WEIGHTS = (1.0, 0.25)
"""What a row without a label may weigh beside one with a label: the first that helps, or nothing."""

STEPS = (1, 2, 4, 8)
"""After so many steps rows are judged, as long as more of them help."""


@dataclass(frozen=True, eq=False)
class WeightTrial:
    """Labelled rows, judged by what all but their fifth and the expected counts teach."""

    weight: float
    steps: int
    left: LeftOut
    calibration: Calibration
    calibrations: Sequence[tuple[IntArray, Calibration]]
    losses: FloatArray
    """The log loss of each row by a calibration that it had no part in, times its weight."""

    @property
    def loss(self) -> float:
        """The mean log loss, on the grid."""
        return quantized_number(float(self.losses.sum() / self.left.weights.sum()))

    def is_better_than(self, other: WeightTrial) -> bool:
        """Whether rows lose less, by more than a standard error of what they gain."""
        gains = quantized(other.losses - self.losses)
        error = float(gains.std(ddof=1)) * np.sqrt(len(gains))
        return quantized_number(float(gains.sum()) - error) > 0


@dataclass(frozen=True, eq=False)
class WeightTrials:
    """Labelled rows of a mixture, the first of which judge it in folds."""

    mixture: Mixture
    classes: tuple[Key, ...]
    folds: IntArray

    @classmethod
    def of(cls, mixture: Mixture, classes: tuple[Key, ...], judged: int) -> WeightTrials:
        """Deal the first so many labelled rows into folds."""
        return cls(mixture, classes, dealt_by_label(mixture.labels[:judged]))

    @property
    def known(self) -> list[IntArray]:
        """The labelled rows that are learned where a fold judges."""
        everyone = np.arange(len(self.mixture.labels))
        return [np.setdiff1d(everyone, here) for here in choice_folds(self.folds)]

    def best(self, watch: Watch = unwatched) -> WeightTrial:
        """The trial that labelled rows speak for: the one without weight, unless another is better."""
        mixture = self.mixture
        plain = self.judged(0.0, 0, [mixture.after(mixture.learned(known)) for known in self.known])
        for weight in WEIGHTS:
            with watch("Trying rows without a label", Size(len(STEPS), "trials")) as report:
                best = min(counted(self.with_weight(weight), report), key=lambda trial: trial.loss)
            if best.is_better_than(plain):
                return best
        return plain

    def with_weight(self, weight: float) -> Iterator[WeightTrial]:
        """WeightTrials with ever more steps, as long as they help."""
        runs, done, last = [self.mixture.steps(known, weight) for known in self.known], 0, np.inf
        for steps in STEPS:
            trial = self.judged(weight, steps, [step_of(run, steps - done).parts for run in runs])
            yield trial
            if trial.loss >= last:
                return
            done, last = steps, trial.loss

    def judged(self, weight: float, steps: int, learned: Sequence[Sequence[LearnedInPart]]) -> WeightTrial:
        """The rows of each fold, judged by blocks that have learned all others."""
        mixture, judged = self.mixture, len(self.folds)
        terms = np.zeros((len(mixture.blocks), judged, mixture.classes))
        lengths, prior = np.zeros(terms.shape[:2]), np.zeros(terms.shape[1:])
        for here, known, parts in zip(choice_folds(self.folds), self.known, learned, strict=True):
            prior[here] = mixture.log_prior(known)
            for index, part in enumerate(parts):
                terms[index, here], lengths[index, here] = part.scores(here)
        nothing = np.zeros_like(lengths)
        left = LeftOut(mixture.labels[:judged], mixture.weights[:judged], prior, terms, lengths, nothing)
        calibrating = Calibrating.of(left, self.classes, mixture.blocks)
        apart, losses = list(calibrating.without(self.folds % CHOICES)), np.zeros(judged)
        for here, own in apart:
            some = left.rows(here)
            likely = some.posterior(own, self.classes, mixture.blocks)
            losses[here] = -some.weights * likely[np.arange(len(here)), some.labels]
        return WeightTrial(weight, steps, left, calibrating.calibration, apart, losses)


def expected_shares(mixture: Mixture, chosen: WeightTrial) -> FloatArray:
    """The shares of rows without a label once all labelled rows are learned."""
    everyone = np.arange(len(mixture.labels))
    return step_of(mixture.steps(everyone, chosen.weight), chosen.steps).shares


def step_of(run: Iterator[MixtureStep], number: int) -> MixtureStep:
    """The step of that number, counted from one, among those still to come."""
    return next(islice(run, number - 1, None))
