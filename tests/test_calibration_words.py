"""What is said of probabilities follows what was measured, and what chance allows."""

from __future__ import annotations

import numpy as np
import pytest

from candide.data.metrics import BINS, bin_of, calibration_error, calibration_error_by_chance
from candide.model.evaluation import Bin, Evaluation
from candide.show.report.calibration_words import calibration_in_words


def judged(said, right) -> Evaluation:
    """Answers with their probabilities, and whether they were right."""
    which = bin_of(said)
    bins = tuple(
        Bin(index / BINS, (index + 1) / BINS, int(here.sum()), int(right[here].sum()), float(said[here].sum()))
        for index in range(BINS)
        for here in [which == index]
    )
    table = np.array([[int(right.sum()), int((~right).sum())], [0, 0]])
    return Evaluation("rows given", None, ("a", "b"), ("a", "b"), table, 0.5, 0.2, bins)


def drawn(rows: int, seed: int, sharpened: float = 0.0, moved: float = 0.0):
    """Probabilities, and rows that are right as often as they say once their log odds were changed."""
    rng = np.random.default_rng(seed)
    odds = rng.uniform(0, 4, rows)
    truth = 1 / (1 + np.exp(-odds))
    said = 1 / (1 + np.exp(-np.maximum(odds * (1 + sharpened) + moved, 0)))
    return said, rng.random(rows) < truth


@pytest.mark.parametrize("rows", [60, 2000])
def test_chance_explains_true_probabilities_about_95_times_in_100(rows):
    within = 0
    for seed in range(200):
        said, right = drawn(rows, seed)
        counts, sums = np.bincount(bin_of(said), minlength=BINS), np.bincount(bin_of(said), said, BINS)
        error = calibration_error(counts, np.bincount(bin_of(said), right, BINS), sums)
        within += error <= calibration_error_by_chance(counts, sums)
    assert 180 <= within <= 198


def test_words_follow_the_figures():
    assert "are too few to judge" in calibration_in_words(judged(*drawn(60, 1)))
    assert "Its probabilities seem" in calibration_in_words(judged(*drawn(60, 0)))
    assert "no more than chance explains with 4,000 rows" in calibration_in_words(judged(*drawn(4000, 0)))
    sure = calibration_in_words(judged(*drawn(4000, 0, sharpened=1.0)))
    assert sure.startswith("Its probabilities are too sure")
    assert "of " in sure.split("Where they say about")[1]
    assert "far too sure" in calibration_in_words(judged(*drawn(4000, 0, moved=3.0)))
    assert "too careful" in calibration_in_words(judged(*drawn(4000, 0, moved=-1.0)))
    assert "slightly" in calibration_in_words(judged(*drawn(100_000, 0, sharpened=0.1)))


def test_one_bin_that_is_surely_wrong_is_named_though_the_mean_is_small():
    said, right = np.full(4000, 0.99), np.arange(4000) % 100 != 0
    said[:40], right[:40] = 0.62, False
    told = calibration_in_words(judged(said, right))
    assert "Where they say about 62.0%, 0.0% of 40 answers are right." in told
