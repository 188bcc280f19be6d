"""Whether what a model says of itself is what new rows give.

    python benchmarks/honesty.py                  # the 69 tables of PMLB; results/honesty.md
    python benchmarks/honesty.py pmlb/sonar       # print these, and leave the report as it is

Rows are dealt into ten folds, twice. Without each fold `NaiveBayes()` chooses, learns and calibrates all anew. What its
`fit` says ("said", the mean over folds) stands beside what the rows of the fold give ("new rows"). A table is marked
where the two accuracies, or the two log losses, are farther apart than two standard errors of what new rows give. "All
rows" is what is said of the model of the whole table, which has learned a tenth more.
"""

from __future__ import annotations

import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

import real_data
from candide import NaiveBayes
from measure import machine, publish, table
from real_data import SEED, DataSet
from scores import LEAST, Answers, calibration_error, chance_of

FOLDS, DEALS = 10, 2


class Figures(NamedTuple):
    """What was said of models, and what new rows gave, each as accuracy, log loss and calibration error."""

    name: str
    rows: int
    whole: np.ndarray
    said: np.ndarray
    given: np.ndarray
    errors: np.ndarray
    seconds: float

    @property
    def verdicts(self) -> list[str]:
        """Whether accuracy and log loss agree, within two standard errors of what new rows give."""
        flattery = (self.said - self.given)[:2] * (1, -1)
        limits = 2 * self.errors + 1e-9
        return [
            "flatters" if by > far else "too low" if by < -far else "yes"
            for by, far in zip(flattery, limits, strict=True)
        ]


def figures(key: str) -> Figures:
    """Fit on all rows, and on all but each fold."""
    warnings.simplefilter("ignore")
    data = real_data.read(key)
    began = time.process_time()
    whole = said_of(NaiveBayes().fit(data.rows, data.labels))
    seconds = time.process_time() - began
    said, right, losses, errors = zip(*(nested(data, SEED + deal) for deal in range(DEALS)), strict=True)
    given = np.array([np.mean(right), np.mean(losses), np.mean(errors)])
    spread = [np.std(np.mean(each, axis=0)) / np.sqrt(len(data.labels)) for each in (right, losses)]
    return Figures(key, len(data.labels), whole, np.mean(said, axis=0), given, np.array(spread), seconds)


def said_of(model: NaiveBayes) -> np.ndarray:
    """Accuracy, log loss and calibration error, as `fit` measured them."""
    quality = model.trained_.tuning.quality
    return np.array([quality.accuracy, quality.log_loss, quality.calibration_error])


def nested(data: DataSet, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """What models without each fold say of themselves; of each row whether it was right, and its loss; and the ECE."""
    right, losses, top = (np.zeros(len(data.labels)) for _ in range(3))
    said = []
    for learned, new in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(data.labels, data.labels):
        model = NaiveBayes().fit(data.part(learned), data.labels[learned])
        said.append(said_of(model))
        chances = model.predict_proba(data.part(new))
        answers = Answers(model.classes_, model.classes_[chances.argmax(axis=1)], chances, 0.0, 0.0)
        right[new] = answers.predicted == data.labels[new]
        losses[new] = -np.log(np.maximum(chance_of(data.labels[new], answers), LEAST))
        top[new] = chances.max(axis=1)
    return np.mean(said, axis=0), right, losses, calibration_error(top, right)


def line(found: Figures) -> list[str]:
    """A line of the table."""
    kinds = (found.whole, found.said, found.given)
    accuracies = [f"{100 * kind[0]:.1f}" for kind in kinds]
    losses, errors = ([f"{kind[index]:.3f}" for kind in kinds] for index in (1, 2))
    return [found.name, f"{found.rows:,}", *accuracies, *losses, *errors[1:], *found.verdicts]


HEAD = ["table", "rows", "all rows %", "said %", "new rows %", "all rows loss", "said", "new rows", "said ECE",
        "new rows", "% agrees", "loss agrees"]  # fmt: skip


def summary(every: list[Figures]) -> str:
    """The means over all tables."""
    parts = ("said", "given", "whole")
    said, given, whole = (np.mean([getattr(one, part) for one in every], axis=0) for part in parts)
    verdicts = np.array([one.verdicts for one in every])
    beyond = " and ".join(
        f"{(column != 'yes').sum()} in {what} ({(column == 'flatters').sum()} flatter)"
        for what, column in zip(("accuracy", "log loss"), verdicts.T, strict=True)
    )
    return (
        f"{len(every)} tables. Said: {100 * said[0]:.2f} %, log loss {said[1]:.4f}, calibration error {said[2]:.4f}. "
        f"New rows: {100 * given[0]:.2f} %, {given[1]:.4f}, {given[2]:.4f}. Beyond two standard errors: {beyond}, "
        f"where chance allows {0.05 * len(every):.0f} each. Said of models of all rows: {100 * whole[0]:.2f} %, "
        f"{whole[1]:.4f}, {whole[2]:.4f}. One fit of each: {sum(one.seconds for one in every):.0f} s of processor "
        "time."
    )


def main(names: list[str]) -> None:
    """Measure, and publish unless only some tables were named."""
    every = []
    with ProcessPoolExecutor() as workers:
        for found in workers.map(figures, names or [key for key in real_data.names() if key.startswith("pmlb/")]):
            every.append(found)
            print(*line(found), sep="\t", flush=True)
    print(summary(every))
    if not names:
        head = ["# What is said, and what new rows give", str(__doc__).strip(), f"{machine('numpy')}. {summary(every)}"]
        publish("honesty", "\n\n".join([*head, table(HEAD, [line(one) for one in every])]))


if __name__ == "__main__":
    main(sys.argv[1:])
