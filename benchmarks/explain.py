"""What an explanation costs beyond a prediction, row by row: mails, mixed columns, and many classes.

    python benchmarks/explain.py

The goal is less than 2 ms a row.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from candide import NaiveBayes
from candide.data.batch import Batch
from candide.show.explanations.readable import ReadableExplanation
from measure import machine, publish, table

ROWS, TIMES = 50, 7
PLAIN = {"families": "guess", "smoothing": "default", "calibrate": False}


def texts(rows: int, words: int, classes: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Texts of so many words, some of which lean towards the class."""
    labels = rng.integers(0, classes, rows)
    drawn = (rng.zipf(1.3, (rows, words)) % 20_000) + (rng.random((rows, words)) < 0.1) * (30_000 + labels[:, None])
    return [" ".join(f"w{word}" for word in line) for line in drawn], [f"class {label}" for label in labels]


def mixed(rows: int, rng: np.random.Generator) -> tuple[dict[str, list[float]], list[str]]:
    """Ten numbers and ten categories."""
    labels = rng.integers(0, 3, rows)
    columns = {f"number {i}": (rng.normal(size=rows) + labels).tolist() for i in range(10)}
    columns |= {f"category {i}": [f"v{v}" for v in rng.integers(0, 5, rows) + labels] for i in range(10)}
    return columns, [f"class {label}" for label in labels]


def cost(model: NaiveBayes, asked: object) -> tuple[str, ...]:
    """Milliseconds a row for a prediction, an explanation, the difference, and for showing what was explained."""
    rows = list(Batch.of(asked).split(1))
    fitted = model.predictor_
    works = (
        fitted.reported,
        fitted.explain,
        lambda row: fitted.explain(row)[0].to_dict(),
        lambda row: str(ReadableExplanation.of(fitted.explain(row)[0])),
    )
    predicted, explained, plain, shown = fastest(works, rows)
    each = (predicted, explained, explained - predicted, plain - explained, shown - explained)
    return tuple(f"{1000 * seconds / len(rows):.2f}" for seconds in each)


def fastest(works: Sequence[Callable[[Batch], object]], rows: list[Batch]) -> list[float]:
    """The least processor time of each work: they take turns, so that a busy moment hits all alike."""
    rounds = [[processor_time(work, rows) for work in works] for _ in range(TIMES + 1)]
    return [min(times) for times in zip(*rounds[1:], strict=True)]


def processor_time(work: Callable[[Batch], object], rows: list[Batch]) -> float:
    """Seconds of the processor, so that others on the machine do not count."""
    start = time.process_time()
    for row in rows:
        work(row)
    return time.process_time() - start


def main() -> None:
    rng = np.random.default_rng(0)
    short, long, many = texts(2000, 20, 2, rng), texts(2000, 200, 2, rng), texts(2000, 20, 100, rng)
    columns = mixed(2000, rng)
    some = {name: values[:ROWS] for name, values in columns[0].items()}
    rows = [
        ("texts of 20 words, 2 classes", *cost(NaiveBayes(**PLAIN).fit(*short), short[0][:ROWS])),
        ("texts of 20 words, chosen and calibrated", *cost(NaiveBayes().fit(*short), short[0][:ROWS])),
        ("texts of 200 words, 2 classes", *cost(NaiveBayes(**PLAIN).fit(*long), long[0][:ROWS])),
        ("texts of 20 words, 100 classes", *cost(NaiveBayes(**PLAIN).fit(*many), many[0][:ROWS])),
        ("10 numbers and 10 categories, 3 classes", *cost(NaiveBayes(**PLAIN).fit(*columns), some)),
    ]
    publish(
        "explain",
        "# What an explanation costs\n\n"
        f"Milliseconds of processor time a row, best of {TIMES} turns, one row at a time. "
        f"{machine('numpy', 'numba')}. The goal is less than 2 ms beyond a prediction. "
        "On top of an explanation come its plain data, flip included, or its text for a terminal.\n\n"
        + table(("rows", "prediction", "explanation", "beyond", "plain data", "text"), rows),
    )


if __name__ == "__main__":
    main()
