"""Model files as each release wrote them, beside rows and what the release said of them.

Run as a script before a release, it writes the folder of this version: a small file for every family, for texts read in
every way, and for whatever else a file can hold. Each has a plain table beside it with the rows that were asked about,
what they are labelled, and all digits of the answers: an old file must give them for ever. Folders of released versions
are never written again.
"""

from __future__ import annotations

import csv
import datetime
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import candide
from candide import NaiveBayes, TextOptions, families

FOLDER = Path(__file__).parent / "data" / "releases"
ROWS = 72
ASKED = 12
CLASSES = ("ash", "birch", "cedar")
PLAIN: dict[str, Any] = {"smoothing": "default", "calibrate": False}

Table = dict[str, list[Any]]

READ = {
    "number": float,
    "text": str,
    "truth": lambda cell: cell == "True",
    "date": datetime.date.fromisoformat,
    "time": datetime.datetime.fromisoformat,
}
"""How the cells of a table are read, by the first word of the column's header."""


@dataclass(frozen=True)
class Recorded:
    """Rows, their labels, and what a model said of them."""

    rows: Table
    labels: list[str]
    classes: list[str]
    joint: np.ndarray
    chances: np.ndarray


def recorded(path: Path) -> Recorded:
    """What stands in the table beside a model file."""
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    by_kind: dict[str, dict[str, list[str]]] = {}
    for name, cells in zip(header, zip(*lines, strict=True), strict=True):
        kind, _, column = name.partition(" ")
        by_kind.setdefault(kind, {})[column] = list(cells)
    rows = {
        column: [READ[kind](cell) if cell else None for cell in by_kind[kind][column]]
        for kind, column in (name.split(" ", 1) for name in header)
        if kind in READ
    }
    joint, chances = (np.array([*by_kind[kind].values()], dtype=float).T for kind in ("joint", "chance"))
    return Recorded(rows, by_kind["label"]["of the row"], [*by_kind["joint"]], joint, chances)


def kind_of(values: list[Any]) -> str:
    """Which reader gives these values back."""
    some = next(value for value in values if value is not None)
    kinds = {bool: "truth", str: "text", datetime.date: "date", datetime.datetime: "time"}
    return kinds.get(type(some), "number")


def record(path: Path, model: NaiveBayes, rows: Table, labels: list[str]) -> None:
    """Ask a model about rows, and write down what it says."""
    joint, chances = model.predict_joint_log_proba(rows), model.predict_proba(rows)
    columns: dict[str, list[Any]] = {f"{kind_of(values)} {name}": values for name, values in rows.items()}
    columns["label of the row"] = labels
    for said, answers in (("joint", joint), ("chance", chances)):
        for index, label in enumerate(model.classes_):
            columns[f"{said} {label}"] = answers[:, index].tolist()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([as_written(cell) for cell in row] for row in zip(*columns.values(), strict=True))


def as_written(cell: Any) -> str:
    return "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)


def forest() -> tuple[Table, list[str]]:
    """A table with a column of every kind, in which every column says something of the label."""
    rng = np.random.default_rng(1759)
    codes = rng.integers(0, len(CLASSES), ROWS + ASKED)
    size = len(codes)
    new_year, spring = datetime.date(2020, 1, 1), datetime.datetime(2024, 3, 1, 8)
    days, hours = rng.integers(0, 300, size) + 90 * codes, 24 * rng.integers(0, 60, size) + 4 * codes
    rows: Table = {
        "height": np.round(rng.normal(10 + 4 * codes, 2 + codes), 3).tolist(),
        "slope": np.round(rng.normal(-codes, 1.5), 3).tolist(),
        "girth": np.round(rng.gamma(2 + codes, 1.5) + 0.001, 3).tolist(),
        "nests": rng.poisson(1 + 2 * codes).tolist(),
        "rings": rng.integers(20, 90, size).tolist(),
        "evergreen": (rng.random(size) < 0.2 + 0.3 * codes).tolist(),
        "soil": np.array(["clay", "loam", "sandé", "chalk"])[(codes + rng.integers(0, 3, size)) % 4].tolist(),
        "parish": [f"parish {number}" for number in (7 * codes + rng.integers(0, 9, size)) % 23],
        "note": [note(code, rng) for code in codes],
        "felled": [new_year + datetime.timedelta(days=int(day)) for day in days],
        "seen": [spring + datetime.timedelta(hours=int(hour)) for hour in hours],
    }
    for index, values in enumerate(rows.values()):
        for row in range(index, len(values), 13):
            values[row] = None
    return rows, [CLASSES[code] for code in codes]


def note(code: int, rng: np.random.Generator) -> str:
    """A sentence whose words tell of the class; some are in other scripts."""
    common = ["the", "tree", "stands", "by", "a", "wall", "Path", "été"]
    telling = [["keys", "grey bark", "Esche"], ["white bark", "catkins", "白樺"], ["needles", "cones", "кедр"]][code]
    words = [*rng.choice(common, 5), *rng.choice(telling, 2), str(rng.choice(telling)) * (1 + int(rng.integers(2)))]
    return " ".join(map(str, words))


def part(rows: Table, start: int, end: int) -> Table:
    return {name: values[start:end] for name, values in rows.items()}


def without(rows: Table, *names: str) -> Table:
    return {name: values for name, values in rows.items() if name not in names}


def some(rows: Table, *names: str) -> Table:
    return {name: rows[name] for name in names}


def taken_by(family: str, rows: Table, labels: list[str]) -> Table:
    """The columns that a family learns from."""
    found: Table = {}
    for name, values in rows.items():
        try:
            NaiveBayes({name: family}, **PLAIN).fit({name: values}, labels)
        except ValueError:
            continue
        found[name] = values
    return found


TEXTS = {
    "words": TextOptions(),
    "words spaced": TextOptions(words="spaced"),
    "words of sklearn": TextOptions(words="sklearn"),
    "words as written": TextOptions(fold_case=False),
    "words without accents": TextOptions(fold_accents=True),
    "pairs": TextOptions(ngrams=2),
    "pairs only": TextOptions(shortest=2, ngrams=2),
    "threes": TextOptions(ngrams=3, max_terms=60),
    "characters": TextOptions(characters=True, shortest=2, ngrams=4),
    "complement": TextOptions(model="complement"),
    "bernoulli": TextOptions(model="bernoulli", weighting="presence"),
    "poisson": TextOptions(model="poisson"),
    "presence": TextOptions(weighting="presence"),
    "log": TextOptions(weighting="log"),
    "unit": TextOptions(weighting="unit"),
    "log complement idf": TextOptions(weighting="log", model="complement", idf=True),
    "idf": TextOptions(idf=True),
    "hashed": TextOptions(hashed=8),
    "hashed pairs unit": TextOptions(hashed=9, shortest=2, ngrams=2, weighting="unit"),
    "stop words": TextOptions(stop_words=("the", "tree"), min_count=2),
    "commonest left out": TextOptions(stop_words=3, max_terms=20),
}


def models(rows: Table, labels: list[str]) -> Iterator[tuple[str, NaiveBayes]]:
    """Everything a file can hold, by name, learned from these rows."""
    for family in families.names():
        columns = taken_by(family, rows, labels)
        yield f"family {family}", NaiveBayes(dict.fromkeys(columns, family), **PLAIN).fit(columns, labels)
    notes = some(rows, "note")
    for name, options in TEXTS.items():
        yield f"text {name}", NaiveBayes("text", text=options, **PLAIN).fit(notes, labels)
    yield "text chosen", NaiveBayes().fit(notes, labels)
    yield from tables(rows, labels)
    yield from histories(rows, labels)


def tables(rows: Table, labels: list[str]) -> Iterator[tuple[str, NaiveBayes]]:
    """Mixed tables under options of all kinds."""
    table = without(rows, "note")
    numbers = [CLASSES.index(label) for label in labels]
    chances: Mapping[Any, float] = dict(zip(CLASSES, (0.2, 0.3, 0.5), strict=True))
    by_hand = {"height": "ignore", "soil": families.named("categorical", grouped=True), "slope": "student"}
    yield "default", NaiveBayes().fit(rows, labels)
    yield "default without text", NaiveBayes().fit(table, labels)
    yield "default, the label in the table", NaiveBayes().fit({**table, "tree": labels}, "tree")
    yield "classes are numbers", NaiveBayes().fit(table, numbers)
    yield "classes are truths", NaiveBayes().fit(table, [number > 0 for number in numbers])
    yield "guessed", NaiveBayes("guess", **PLAIN).fit(rows, labels)
    yield "missing is a value", NaiveBayes(missing="value").fit(table, labels)
    yield "priors uniform", NaiveBayes(priors="uniform").fit(table, labels)
    yield "priors by class", NaiveBayes(priors=chances).fit(table, labels)
    yield "classes weighed", NaiveBayes(class_weight="balanced").fit(table, labels)
    yield "smoothing by hand", NaiveBayes(smoothing={"soil": 3.0, "nests": 0.5}).fit(table, labels)
    yield "families by hand", NaiveBayes(by_hand, smoothing=0.5).fit(table, labels)
    yield "dates", NaiveBayes().fit(some(rows, "felled", "seen"), labels)
    yield "calendar", NaiveBayes("calendar").fit(some(rows, "felled", "seen"), labels)
    yield "fractional weights", NaiveBayes().fit(table, labels, sample_weight=[1 + row % 7 / 4 for row in range(ROWS)])
    yield "whole weights", NaiveBayes().fit(rows, labels, sample_weight=[row % 4 for row in range(ROWS)])
    yield "ledger", NaiveBayes(ledger=True).fit(rows, labels)


def histories(rows: Table, labels: list[str]) -> Iterator[tuple[str, NaiveBayes]]:
    """Models that learned more, forgot, were merged, or saw one row at a time."""
    half = ROWS // 2
    first, second = part(rows, 0, half), part(rows, half, ROWS)
    begun = NaiveBayes().fit(without(first, "felled"), labels[:half])
    yield "learned more", NaiveBayes().fit(first, labels[:half]).partial_fit(second, labels[half:])
    yield "forgot", NaiveBayes(ledger=True).fit(rows, labels).forget(second, labels[half:])
    yield "merged", begun + NaiveBayes().fit(without(second, "felled"), labels[half:], like=begun)
    yield "a column came later", NaiveBayes(**PLAIN).fit(without(first, "soil"), labels[:half]).partial_fit(
        second, labels[half:])  # fmt: skip
    declared = [*CLASSES, "yew"]
    yield "a class not yet seen", NaiveBayes(**PLAIN).partial_fit(first, labels[:half], classes=declared)
    stream = NaiveBayes()
    for index in range(half):
        stream.learn_one({name: values[index] for name, values in rows.items()}, labels[index])
    yield "stream", stream


def asked_about(model: NaiveBayes, rows: Table) -> Table:
    """The columns of some rows that a model knows; with an unseen value in each."""
    known = {name: [*values] for name, values in rows.items() if name in set(model.schema_.columns)}
    for name in {"soil", "parish", "note"} & set(known):
        known[name][-1] = "never seen anywhere"
    return known


def write(folder: Path) -> None:
    """All files of this version."""
    folder.mkdir(parents=True)
    rows, labels = forest()
    for name, model in models(part(rows, 0, ROWS), labels[:ROWS]):
        path = folder / f"{name}.candide"
        model.save(path)
        asked = asked_about(model, part(rows, ROWS, ROWS + ASKED))
        names = [str(model.classes_[CLASSES.index(label) % len(model.classes_)]) for label in labels[ROWS:]]
        record(path.with_suffix(".csv"), candide.load(path), asked, names)


if __name__ == "__main__":
    here = FOLDER / candide.__version__
    if here.exists():
        sys.exit(f"{here} is there already. What was released is never written again: raise the version first.")
    warnings.simplefilter("ignore")
    write(here)
    print(f"{sum(1 for _ in here.glob('*.candide'))} model files are in {here}. Commit them.")
