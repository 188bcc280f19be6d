"""Groups of rows that have no labels at all: the mixture of so many classes under which the rows are most probable.

EM finds the best mixture near where it starts. So it starts from several sets of rows, one for each group, drawn by a
seed; each goes a few steps, and the most probable goes on until next to no row changes its group (Biernacki, Celeux and
Govaert 2003).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.data.grid import quantized_number
from candide.data.progress import Size, Watch, counted, unwatched
from candide.families.base.block_rows import Learned
from candide.model.predictor import log_normalised, log_sum
from candide.selection.em import Mixture, moved, shared_out, shares_of
from candide.statistics.weight_grid import on_grid

FIRST_STEPS, MOST_STEPS = 5, 100
STILL = 1e-3
"""Where no more than such a share of the rows changes its group in a step, groups are found."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """What each row's share of every group is, and how probable rows were on the way, in nats a row."""

    shares: FloatArray
    path: tuple[float, ...]
    """After each step."""
    converged: bool = False

    @property
    def log_likelihood(self) -> float:
        """That of a row in the mean, on the grid."""
        return self.path[-1]


def find_groups(
    mixture: Mixture, seed: int, starts: int, watch: Watch = unwatched
) -> tuple[Grouping, tuple[float, ...]]:
    """The most probable grouping, and how probable rows were after the first steps of every start."""
    rng = np.random.default_rng(seed)
    with watch("Starting groups", Size(starts, "starts")) as report:
        begun = [last(begun_at(mixture, seeds_of(mixture, rng)), FIRST_STEPS) for _ in counted(range(starts), report)]
    best = max(begun, key=lambda one: one.log_likelihood)
    with watch("Finding groups", Size(None, "steps")) as report:
        found = last(counted(continued(mixture, best), report), MOST_STEPS - FIRST_STEPS)
    return found, tuple(one.log_likelihood for one in begun)


def seeds_of(mixture: Mixture, rng: np.random.Generator) -> IntArray:
    """A row for each group, no two the same."""
    return rng.choice(len(mixture.batch), mixture.classes, replace=False)


def begun_at(mixture: Mixture, seeds: IntArray) -> Iterator[Grouping]:
    """The groupings that follow where each group has learned one row of its own, and one in the image of all rows."""
    rows, groups = len(mixture.batch), mixture.classes
    everyone, image = np.tile(np.arange(rows), groups), mixture.weights / mixture.weights.sum()
    labels = np.concatenate([np.repeat(np.arange(groups), rows), np.arange(groups)])
    weights = on_grid(np.concatenate([np.tile(image, groups), np.ones(groups)]))
    parts = mixture.after(Learned(np.concatenate([everyone, seeds]), labels, weights))
    joint = mixture.joint(parts, np.full(groups, -np.log(groups)))
    return continued(mixture, step_from(mixture, joint, ()))


def continued(mixture: Mixture, grouping: Grouping) -> Iterator[Grouping]:
    """The grouping, and those after one more step each, until next to no row changes its group."""
    yield grouping
    while not grouping.converged:
        before = grouping.shares
        with np.errstate(divide="ignore"):
            log_prior = np.log(mixture.weights @ before / mixture.weights.sum())
        joint = mixture.joint(mixture.after(shared_out(before, mixture.weights, 1.0)), log_prior)
        grouping = step_from(mixture, joint, grouping.path, before)
        yield grouping


def step_from(
    mixture: Mixture, joint: FloatArray, path: tuple[float, ...], before: FloatArray | None = None
) -> Grouping:
    """What rows are taken for by what was learned, and how probable that makes them."""
    shares = shares_of(log_normalised(joint, np.zeros(mixture.classes)))
    mean = quantized_number(float(mixture.weights @ log_sum(joint) / mixture.weights.sum()))
    is_still = before is not None and moved(shares, before, mixture.weights) <= STILL
    return Grouping(shares, (*path, mean), is_still)


def last(groupings: Iterator[Grouping], most: int) -> Grouping:
    """The last of them, but no more than so many."""
    *_, found = islice(groupings, most)
    return found
