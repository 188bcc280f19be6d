"""The drop-in classifiers beside scikit-learn's, on the same arrays in the same run: python benchmarks/arrays.py

Times are the best of several with warm kernels; `fit` includes working out the fitted parameters. Extra memory is
the most a fresh process grew while fitting and predicting, beyond the arrays and the compiled kernels.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
import sklearn.naive_bayes

import candide
from measure import best_of, extra_memory, import_time, machine, publish, run_python, table

ROWS = 1_000_000
MOST_EXTRA_MB = 200
TIMES = 7
Arrays = tuple[Any, Any]


@dataclass(frozen=True)
class Case:
    """One classifier on one kind of array, and how many times faster than scikit-learn it should be."""

    name: str
    what: str
    arrays: Callable[[int], Arrays]
    rows: int
    parameters: str
    fit_target: float
    predict_target: float


def gaussian_arrays(rows: int) -> Arrays:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, rows)
    X = rng.normal(size=(rows, 50))
    X += y[:, None] * 0.1
    return X, y


def truth_arrays(rows: int) -> Arrays:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 5, rows)
    return (rng.random((rows, 50)) < 0.2 + 0.1 * y[:, None]).astype(np.float64), y


def category_arrays(rows: int) -> Arrays:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, rows)
    return (rng.integers(0, 10, (rows, 20)) + y[:, None]) % 10, y


def text_arrays(rows: int) -> Arrays:
    """100 words a row, all equally common: the hardest case for a processor's caches."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 20, rows)
    X = sp.random_array((rows, 150_000), density=100 / 150_000, format="csr", rng=rng)
    X.data = np.minimum(rng.geometric(0.6, X.nnz), 20).astype(np.float64)
    X.sort_indices()
    return X, y


LOGS = "feature_log_prob_"
CATEGORIES = "1,000,000 x 20 int64, 10 values, 5 classes"
TEXT = "CSR 60,000 x 150,000, 6,000,000 entries, 20 classes"
CASES = [
    Case("GaussianNB", "1,000,000 x 50 float64, 5 classes", gaussian_arrays, ROWS, "theta_ var_", 8, 15),
    Case("BernoulliNB", "1,000,000 x 50 float64, 5 classes", truth_arrays, ROWS, LOGS, 8, 8),
    Case("CategoricalNB", CATEGORIES, category_arrays, ROWS, LOGS, 20, 10),
    Case("MultinomialNB", TEXT, text_arrays, 60_000, LOGS, 4, 2),
]


def fitted(case: Case, library: Any, X: Any, y: Any) -> Any:
    """A fitted model whose parameters have been worked out."""
    model = getattr(library, case.name)().fit(X, y)
    for name in case.parameters.split():
        getattr(model, name)
    return model


def compare(case: Case) -> list[list[str]]:
    """Two lines of the table: fit and predict."""
    X, y = case.arrays(case.rows)
    theirs, ours = (fitted(case, library, X, y) for library in (sklearn.naive_bayes, candide))
    steps = {
        "fit": best_of(
            lambda: fitted(case, sklearn.naive_bayes, X, y), lambda: fitted(case, candide, X, y), times=TIMES
        ),
        "predict": best_of(lambda: theirs.predict(X), lambda: ours.predict(X), times=TIMES),
    }
    extra = extra_memory_of(case)
    lines = []
    for (step, (slow, fast)), target in zip(steps.items(), (case.fit_target, case.predict_target), strict=True):
        ratio = slow / fast
        reached = "yes" if ratio >= target and extra < MOST_EXTRA_MB else "no"
        times = (f"{slow:.3f} s", f"{fast:.3f} s", f"{ratio:.1f}", f"{target:g}", reached)
        lines.append([f"{case.name} {step}", case.what, *times, f"{extra:.0f} MB"])
    return lines


def extra_memory_of(case: Case) -> float:
    return float(run_python(__file__, "memory", case.name))


def print_extra_memory(name: str) -> None:
    """What the fresh process of `extra_memory_of` does: warm up on few rows, then measure on all."""
    case = next(case for case in CASES if case.name == name)
    few = case.arrays(100)
    fitted(case, candide, *few).predict(few[0])
    X, y = case.arrays(case.rows)
    print(extra_memory(lambda: fitted(case, candide, X, y).predict(X)))


def growth() -> list[list[str]]:
    """GaussianNB on 1, 2 and 4 times the rows."""
    case, lines = CASES[0], []
    for times in (1, 2, 4):
        X, y = case.arrays(ROWS // 4 * times)
        model = fitted(case, candide, X, y)
        fit, predict = best_of(lambda: fitted(case, candide, X, y), lambda: model.predict(X))  # noqa: B023
        lines.append([f"{len(y):,}", f"{fit:.3f} s", f"{predict:.3f} s"])
    return lines


def imports() -> list[list[str]]:
    statements = ["import sklearn.naive_bayes", "import candide", "from candide import GaussianNB"]
    times = [import_time(statement) for statement in statements]
    return [
        [statement, f"{time:.3f} s", f"{time / times[0]:.2f}"]
        for statement, time in zip(statements, times, strict=True)
    ]


def main() -> None:
    lines = [line for case in CASES for line in compare(case)]
    header = ["step", "array", "scikit-learn", "candide", "times faster", "target", "reached", "extra memory"]
    publish(
        "arrays",
        "\n".join(
            [
                "# Drop-in classifiers beside scikit-learn",
                "",
                machine("numpy", "scipy", "numba", "scikit-learn") + ".",
                f"Best of {TIMES} in one run, taking turns, kernels warm; fit includes making the fitted parameters. "
                "Extra memory: the most a fresh process grew during fit and predict, sampled every millisecond. "
                f"Reached: as many times faster as asked, with less than {MOST_EXTRA_MB} MB extra.",
                "",
                table(header, lines),
                "",
                "GaussianNB as rows grow:",
                "",
                table(["rows", "fit", "predict"], growth()),
                "",
                "Import, interpreter start-up not counted (target for `import candide`: below 0.5):",
                "",
                table(["statement", "time", "share"], imports()),
            ]
        ),
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory"]:
        print_extra_memory(sys.argv[2])
    else:
        main()
