"""How much of the rows is answered wrongly, by a loop and by its slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from candide.data.grid import NEAR, first_largest
from candide.kernels.mistakes import weight_of_mistakes


@pytest.mark.parametrize("classes", [1, 2, 7])
def test_the_weight_of_mistakes_agrees_with_its_slow_twin(classes):
    rng = np.random.default_rng(classes)
    scores = rng.integers(0, 3, (50, classes)) + rng.choice([0.0, NEAR / 2, 2 * NEAR], (50, classes))
    scores[3] = -np.inf
    labels, weights = rng.integers(0, classes, 50), rng.integers(0, 3, 50).astype(float)
    expected = weights[first_largest(scores) != labels].sum()
    assert weight_of_mistakes(scores, labels, weights, NEAR) == expected
