"""Tables of every shape, long, wide or of many classes: does the default choose in seconds?

    python benchmarks/shapes.py                   # all; results/shapes.md
    python benchmarks/shapes.py 5000x2000x2       # print these: rows x columns x classes

Normal numbers, of which every tenth column tells something about the class. Each fit is a fresh process after a warm-up
on 300 rows, beside logistic regression on scaled columns; not where classes are so many that it would take minutes.
"""

from __future__ import annotations

import json
import sys
import time
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from candide import NaiveBayes
from measure import machine, peak_memory, publish, run_python, table

SHAPES = ("30x10x2", "5000x2000x2", "20000x300x2", "1000x20000x2", "100000x300x2", "1000000x30x2", "20000x20x1000")
ASKED = {"5000x2000x2": 10.0, "20000x300x2": 3.0}
SEED, WARM_ROWS, MOST_CLASSES = 5, 300, 100
OURS, PEER = "candide", "LogisticRegression"


def rows_of(shape: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and classes of a shape."""
    rows, columns, classes = map(int, shape.split("x"))
    chance = np.random.default_rng(SEED)
    labels, numbers = chance.integers(0, classes, rows), chance.normal(size=(rows, columns))
    numbers[:, ::10] += (2.0 / classes) * labels[:, None]
    return numbers, labels


def print_measured(method: str, shape: str) -> None:
    """What a fresh process does: warm up, fit, and say how long that took and how large it grew."""
    numbers, labels = rows_of(shape)
    model = NaiveBayes() if method == OURS else make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    model.fit(numbers[:WARM_ROWS, :100], labels[:WARM_ROWS])
    start, used = time.perf_counter(), time.process_time()
    model.fit(numbers, labels)
    wall, processor = time.perf_counter() - start, time.process_time() - used
    print(json.dumps({"wall": wall, "processor": processor, "peak": peak_memory(), "data": numbers.nbytes / 1e6}))


def measured(method: str, shape: str) -> dict[str, float]:
    found: dict[str, float] = json.loads(run_python(__file__, "measure", method, shape).splitlines()[-1])
    return found


def line(shape: str) -> list[str]:
    """One shape, ours and theirs."""
    rows, columns, classes = map(int, shape.split("x"))
    ours = measured(OURS, shape)
    theirs = f"{measured(PEER, shape)['wall']:.1f} s" if classes <= MOST_CLASSES else ""
    limit = ASKED.get(shape)
    reached = "" if limit is None else f"{limit:.0f} s: {'yes' if ours['wall'] <= limit else 'no'}"
    times = f"{ours['wall']:.1f} s", f"{ours['processor']:.1f} s"
    memory = f"{ours['data']:,.0f} MB", f"{ours['peak']:,.0f} MB"
    return [f"{rows:,} x {columns:,}", f"{classes:,}", *times, reached, *memory, theirs]


def report(shapes: tuple[str, ...]) -> str:
    header = ["rows x columns", "classes", "fit, wall", "processor", "asked", "data", "peak memory", PEER]
    lines = [line(shape) for shape in shapes]
    about = machine("numpy", "numba", "scikit-learn")
    return "\n".join(["# Tables of every shape", "", __doc__ or "", about, "", table(header, lines)])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    match sys.argv[1:]:
        case ["measure", method, shape]:
            print_measured(method, shape)
        case []:
            publish("shapes", report(SHAPES))
        case wanted:
            print(report(tuple(wanted)))
