"""Whether what a model says of itself is what new rows give.

    python benchmarks/honesty.py                  # the 69 tables of PMLB; results/honesty.md
    python benchmarks/honesty.py pmlb/sonar       # print these, and leave the report as it is

`NaiveBayes()` is fitted on two thirds of a table, three times, and asked for the figures that `fit` measured. The other
third, which nothing was chosen by, then tells accuracy, log loss and calibration error (15 bins). Where the said
accuracy is farther than two standard errors of the difference from that of new rows, the table is marked.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

import real_data
from candide import NaiveBayes
from candide.data.errors import ColumnWarning
from measure import machine, publish, table
from real_data import SEED, DataSet

FOLDS = 3


class Figures(NamedTuple):
    """What was said of a model, and what new rows gave, each as accuracy, log loss and calibration error."""

    name: str
    rows: int
    said: np.ndarray
    given: np.ndarray
    seconds: float

    @property
    def error(self) -> float:
        """The standard error of the difference of accuracies, as if rows were judged independently."""
        shares = np.array([self.said[0], self.given[0]]).clip(0.5 / self.rows, 1 - 0.5 / self.rows)
        return float(np.sqrt((shares * (1 - shares) / self.rows).sum()))

    @property
    def verdict(self) -> str:
        """Whether the two agree."""
        apart = self.said[0] - self.given[0]
        return "yes" if abs(apart) <= 2 * self.error else "too high" if apart > 0 else "too low"


def figures(data: DataSet) -> Figures:
    """Fit on two thirds, three times, and compare."""
    labels = np.asarray(data.labels)
    said, given, began = [], [], time.process_time()
    for learned, new in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(labels, labels):
        model = NaiveBayes().fit(data.part(learned), labels[learned])
        quality = model.trained_.tuning.quality
        found = model.evaluate(data.part(new), labels[new])
        said.append([quality.accuracy, quality.log_loss, quality.calibration_error])
        given.append([found.accuracy, found.log_loss, found.calibration_error])
    seconds = time.process_time() - began
    return Figures(data.key, len(labels), np.mean(said, axis=0), np.mean(given, axis=0), seconds)


def line(found: Figures) -> list[str]:
    """A line of the table."""
    both = [f"{100 * found.said[0]:.1f}", f"{100 * found.given[0]:.1f}"]
    both += [f"{number:.3f}" for pair in zip(found.said[1:], found.given[1:], strict=True) for number in pair]
    return [found.name, f"{found.rows:,}", *both, found.verdict]


HEAD = ["table", "rows", "said %", "new rows %", "said log loss", "new rows", "said ECE", "new rows", "agrees"]


def summary(every: list[Figures]) -> str:
    """The means over all tables."""
    said, given = (np.mean([getattr(one, part) for one in every], axis=0) for part in ("said", "given"))
    outside = [one for one in every if one.verdict != "yes"]
    high = sum(one.verdict == "too high" for one in outside)
    return (
        f"{len(every)} tables. Said: {100 * said[0]:.2f} %, log loss {said[1]:.4f}, calibration error {said[2]:.4f}. "
        f"New rows: {100 * given[0]:.2f} %, {given[1]:.4f}, {given[2]:.4f}. Beyond two standard errors: {len(outside)} "
        f"tables ({high} said too much), where chance allows {0.05 * len(every):.0f}. "
        f"{sum(one.seconds for one in every):.0f} s of processor time."
    )


def main(names: list[str]) -> None:
    """Measure, and publish unless only some tables were named."""
    warnings.simplefilter("ignore", ColumnWarning)
    every = []
    for key in names or [key for key in real_data.names() if key.startswith("pmlb/")]:
        every.append(figures(real_data.read(key)))
        print(*line(every[-1]), sep="\t", flush=True)
    print(summary(every))
    if not names:
        head = ["# What is said, and what new rows give", str(__doc__).strip(), f"{machine('numpy')}. {summary(every)}"]
        publish("honesty", "\n\n".join([*head, table(HEAD, [line(one) for one in every])]))


if __name__ == "__main__":
    main(sys.argv[1:])
