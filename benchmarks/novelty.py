"""How many new rows are called "unfamiliar" where one in a hundred should be, and how many foreign texts get no answer.

    python benchmarks/novelty.py                      # every table of 300 rows or more; results/novelty.md
    python benchmarks/novelty.py pmlb/auto table/car  # print these, and leave the report as it is

Each half of a table (at most 3,000 rows, drawn from all over) judges the other, by the model that `NaiveBayes()` fits.
The rate that was asked for is 1 %; noise is two standard deviations of so many rows, those learned among them, at 0.3
and at 2 %. Of clinc150's texts `decide` answers 95 % of those in scope, by the confidence that this takes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import real_data
from candide import NaiveBayes
from candide.data.errors import ColumnWarning
from measure import machine, publish, table
from real_data import DataSet

LEAST_ROWS, MOST_ROWS = 300, 3_000
LEAST, MOST = 0.003, 0.02
ANSWERED = 0.95


class Rate(NamedTuple):
    """How many rows of a table were judged, and how many of these were unfamiliar."""

    name: str
    rows: int
    unfamiliar: int

    @property
    def share(self) -> float:
        return self.unfamiliar / self.rows

    @property
    def verdict(self) -> str:
        """Whether the share lies where it should, or no farther outside than chance may carry it."""
        if LEAST <= self.share <= MOST:
            return "yes"
        edge = LEAST if self.share < LEAST else MOST
        noise = 2 * np.sqrt(2 * edge * (1 - edge) / self.rows)
        return "within noise" if abs(self.share - edge) <= noise else "no"


def tables(names: list[str]) -> Iterator[DataSet]:
    """The tables that were named, or all that are large enough."""
    for key in names or [key for key in real_data.names() if not key.startswith("text/")]:
        found = real_data.read(key)
        if names or len(found.labels) >= LEAST_ROWS:
            yield found


def rate(data: DataSet) -> Rate:
    """Each half judged by what the other taught."""
    order = np.random.default_rng(real_data.SEED).permutation(len(data.labels))[: 2 * MOST_ROWS]
    halves, unfamiliar = np.array_split(order, 2), 0
    for learned, new in (halves, halves[::-1]):
        model = NaiveBayes().fit(data.part(learned), data.labels[learned])
        unfamiliar += int((model.decide(data.part(new), confidence=0) == "unfamiliar").sum())
    return Rate(data.key, len(order), unfamiliar)


def foreign() -> str:
    """What becomes of texts that belong to no class, where nearly all others are answered."""
    data = real_data.read("text/clinc150")
    learned, new = data.folds[0]
    model = NaiveBayes().fit(data.part(learned), data.labels[learned])
    outside = [row["text"] for row in real_data.lines_of("clinc150_out_of_scope")]
    inside = data.part(new)
    known = model.decide(inside, confidence=0) != "unfamiliar"
    top = np.where(known, model.predict_proba(inside).max(axis=1), -1.0)
    confidence = max(float(np.quantile(top, 1 - ANSWERED)), 0.0)
    no_answer = np.isin(model.decide(outside, confidence=confidence).astype(str), ["unsure", "unfamiliar"]).mean()
    strange = (model.decide(outside, confidence=0) == "unfamiliar").mean()
    return (
        f"clinc150: {1 - known.mean():.1%} of {len(inside):,} new texts in scope are unfamiliar, and {strange:.1%} of "
        f"{len(outside):,} out of scope. Where {ANSWERED:.0%} of those in scope are answered (confidence "
        f"{confidence:.2f}), {no_answer:.1%} of those out of scope are unfamiliar or unsure."
    )


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore", ColumnWarning)
    rates = []
    for data in tables(names):
        rates.append(rate(data))
        print(*rates[-1], rates[-1].verdict, flush=True)
    lines = [(one.name, f"{one.rows:,}", str(one.unfamiliar), f"{one.share:.2%}", one.verdict) for one in rates]
    shown = table(("table", "rows judged", "unfamiliar", "share", "0.3 to 2 %"), lines)
    if names:
        print(shown)
        return
    reached = sum(one.verdict != "no" for one in rates)
    together = sum(one.unfamiliar for one in rates) / sum(one.rows for one in rates)
    summary = f"All rows together: {together:.2%}; within 0.3 to 2 % or noise: {reached} of {len(rates)} tables."
    head = ["# How many rows are unfamiliar", str(__doc__).strip(), f"{machine('numpy')}. {summary}"]
    publish("novelty", "\n\n".join([*head, shown, foreign()]))


if __name__ == "__main__":
    main(sys.argv[1:])
