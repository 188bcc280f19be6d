"""The first tests of a clone compile kernels before they begin, and of two workers each compiles one half.

A worker holds the lock of a half while it compiles it. Then it waits for whoever compiles the other half, and reads
that from disk, as it does what the demo compiled before. Kernels that few tests need are left to them. The files of the
locks stay, and tell later runs that this was done.
"""

from __future__ import annotations

import fcntl
import warnings
from collections.abc import Sequence

import numpy as np

from candide import NaiveBayes, TextOptions, families
from conftest import ON_DISK
from strategies import takes

ROWS = 120
CLASSES = np.array(["a", "b", "c"])[np.arange(ROWS) % 3]
HALVES = np.full(ROWS, 0.5)
RNG = np.random.default_rng(0)


def compile_halves(worker: int) -> None:
    """Both halves, the worker's own first."""
    halves = (compile_for_tables, compile_for_texts)
    ON_DISK.mkdir(exist_ok=True)
    for half in (halves[worker % 2], halves[1 - worker % 2]):
        with (ON_DISK / f"{half.__name__}.lock").open("w") as file, warnings.catch_warnings(action="ignore"):
            fcntl.flock(file, fcntl.LOCK_EX)
            half()


def compile_for_tables() -> None:
    """What columns of numbers, counts, categories and times need, under every family."""
    numbers, words = RNG.gamma(2.0, size=ROWS), RNG.choice(["red", "green", "blue"], ROWS)
    table = {"x": numbers, "n": RNG.poisson(3, ROWS), "c": words, "t": numbers > 1, "d": 1.7e9 + 1e7 * numbers}
    use(NaiveBayes(), table)
    use(NaiveBayes(ledger=True), {"x": numbers * 1e200, "c": words})
    kinds = [column.tolist() for column in (RNG.random(ROWS), RNG.poisson(1, ROWS), numbers > 1, words)]
    for name in families.names():
        column = next(kind for kind in kinds if all(takes(families.named(name), value) for value in set(kind)))
        use(NaiveBayes({"x": name, "y": name}, calibrate=False), {"x": column, "y": column})


def compile_for_texts() -> None:
    """What texts need, cut and weighed in any way."""
    texts = [" ".join(some) for some in RNG.choice(["win", "a", "prize", "now", "été", "漢字"], (ROWS, 5))]
    recipes = [TextOptions(weighting=weighting) for weighting in ("counts", "log", "unit", "presence")]
    recipes += [TextOptions(characters=True, ngrams=3), TextOptions(words="sklearn"), TextOptions(hashed=8, ngrams=2)]
    recipes += [TextOptions(model="complement", idf=True), TextOptions(model="poisson"), TextOptions(fold_accents=True)]
    recipes += [TextOptions(model="bernoulli", weighting="presence", min_count=2)]
    use(NaiveBayes(), {"text": texts})
    for recipe in recipes:
        use(NaiveBayes(text=recipe, calibrate=False), {"text": texts})


def use(model: NaiveBayes, table: dict[str, Sequence[object]]) -> None:
    """Ask of a model whatever can be asked, with whole weights and fractions."""
    rows = {name: list(values) for name, values in table.items()}
    model.fit(rows, CLASSES)
    model.predict_proba(rows)
    model.explain({name: values[:2] for name, values in rows.items()})
    model.evaluate(rows, CLASSES, leave_one_out=True)
    model.partial_fit(rows, CLASSES, sample_weight=HALVES)
    model.forget(rows, CLASSES, sample_weight=HALVES)
    first = {name: values[0] for name, values in rows.items()}
    model.learn_one(first, "a")
    model.predict_proba_one(first)
    model.forget_one(first, "a")
