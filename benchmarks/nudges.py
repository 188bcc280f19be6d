"""Whether a model hangs on the last digits of its rows.

    python benchmarks/nudges.py                # the tables of PMLB of at most 2,500 rows; results/nudges.md
    python benchmarks/nudges.py pmlb/sonar     # print these, and leave the report as it is
    python benchmarks/nudges.py --each ...     # a coin for each value instead: equal values no longer are

Twenty times a column of numbers that are not all whole is drawn, and moved by one unit in the last place, up or down as
a coin says. `NaiveBayes()` learns the table before and after, and answers its rows: how many answers change, and in how
many rows does a probability move by more than 0.01?
"""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import real_data
from candide import NaiveBayes
from measure import machine, publish, table
from real_data import SEED

NUDGES, FAR, MOST_ROWS = 20, 0.01, 2500


class Moved(NamedTuple):
    """Of a table how many rows were asked in all, changed their answer, moved far, and how far at most."""

    name: str
    columns: int
    asked: int
    changed: int
    far: int
    most: float


def able(frame: pd.DataFrame) -> list[str]:
    """The columns of numbers that are not all whole: whole ones would become numbers of another kind."""
    return [name for name in frame if frame[name].dtype.kind == "f" and (frame[name].dropna() % 1 != 0).any()]


def moved(key: str, each: bool) -> Moved:
    """Fit a table, and twenty that differ from it in the last digits of a column."""
    warnings.simplefilter("ignore")
    data, rng = real_data.read(key), np.random.default_rng(SEED)
    names, before = able(data.rows), answers(data.rows, data.labels)
    changed = far = 0
    most = 0.0
    for _ in range(NUDGES):
        name, frame = names[rng.integers(len(names))], data.rows.copy()
        towards = np.where(rng.random(len(frame) if each else 1) < 0.5, -np.inf, np.inf)
        frame[name] = np.nextafter(frame[name].to_numpy(), towards)
        after = answers(frame, data.labels)
        apart = np.abs(after - before).max(axis=1)
        changed += int((after.argmax(axis=1) != before.argmax(axis=1)).sum())
        far += int((apart > FAR).sum())
        most = max(most, float(apart.max()))
    return Moved(key, len(names), NUDGES * len(before), changed, far, most)


def answers(frame: pd.DataFrame, labels: np.ndarray) -> np.ndarray:
    """What a model of a table says of its own rows."""
    return NaiveBayes().fit(frame, labels).predict_proba(frame)


def chosen_tables() -> list[str]:
    """The tables that have a column to move and are not so large that twenty fits take minutes."""
    small = (key for key in real_data.names() if key.startswith("pmlb/"))
    frames = ((key, real_data.read(key).rows) for key in small)
    return [key for key, frame in frames if len(frame) <= MOST_ROWS and able(frame)]


def summary(every: list[Moved]) -> str:
    """All tables together."""
    asked, changed, far = (sum(getattr(one, part) for one in every) for part in ("asked", "changed", "far"))
    return (
        f"{len(every)} tables, {asked:,} rows asked: {100 * changed / asked:.3f} % of answers change, and "
        f"{100 * far / asked:.2f} % of rows move by more than {FAR}."
    )


def line(one: Moved) -> list[str]:
    """A line of the table."""
    shares = (f"{100 * part / one.asked:.2f}" for part in (one.changed, one.far))
    return [one.name, str(one.columns), *shares, f"{one.most:.3f}"]


HEAD = ["table", "columns", "answers changed %", f"moved by more than {FAR} %", "at most"]


def main(names: list[str], each: bool) -> None:
    """Measure, and publish unless only some tables were named."""
    every = []
    with ProcessPoolExecutor() as workers:
        for found in workers.map(partial(moved, each=each), names or chosen_tables()):
            every.append(found)
            print(*line(found), sep="\t", flush=True)
    print(summary(every))
    if not names and not each:
        head = ["# The last digit", str(__doc__).strip(), f"{machine('numpy')}. {summary(every)}"]
        publish("nudges", "\n\n".join([*head, table(HEAD, [line(one) for one in every])]))


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--each"], "--each" in sys.argv)
