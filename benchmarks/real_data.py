"""The real data sets, each with its rows, its labels and the folds on which every method is measured."""

from __future__ import annotations

import gzip
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold, train_test_split

DATA = Path(os.environ.get("CANDIDE_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
FEW = 12
SEED = 5

TEXTS = ("sms_spam", "movie_reviews", "rt_polarity", "subjectivity", "spamassassin", "banking77", "clinc150")
TABLES = {
    "adult": "income",
    "breast_cancer": "diagnosis",
    "car": "acceptability",
    "covertype": "Cover_Type",
    "german_credit": "risk",
    "heart_cleveland": "disease",
    "letter": "letter",
    "mushroom": "edibility",
    "nursery": "recommendation",
    "spambase": "spam",
    "titanic3": "survived",
    "voting": "party",
}
NO_FEATURES = {"breast_cancer": ["id"], "titanic3": ["boat", "body"]}

Fold = tuple[Any, Any]


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows (a frame, or a list of texts), a label each, and pairs of places to learn from and to be tested on."""

    collection: str
    name: str
    rows: Any
    labels: Any
    folds: tuple[Fold, ...]
    protocol: str

    @property
    def key(self) -> str:
        """Unambiguous, as some names occur in two collections."""
        return f"{self.collection}/{self.name}"

    def part(self, indices: Any) -> Any:
        """Some of the rows."""
        if isinstance(self.rows, pd.DataFrame):
            return self.rows.iloc[indices]
        return [self.rows[index] for index in indices]

    @cached_property
    def few_valued(self) -> list[str]:
        """Columns of strings, and those of at most 12 distinct values."""
        return [name for name in self.rows if not is_number(self.rows[name]) or self.rows[name].nunique() <= FEW]

    @cached_property
    def categories(self) -> list[str]:
        """What a careful user would one-hot encode: strings, and in PMLB, where categories are numbered, few values."""
        return self.few_valued if self.collection == "pmlb" else [n for n in self.rows if not is_number(self.rows[n])]

    def others(self, names: list[str]) -> list[str]:
        """All columns but these."""
        return [name for name in self.rows if name not in names]


def is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column)


def names() -> Iterator[str]:
    """Every data set there is, the many small ones first."""
    for path in sorted((DATA / "pmlb").glob("*.tsv.gz")):
        yield f"pmlb/{path.name.removesuffix('.tsv.gz')}"
    yield from (f"table/{name}" for name in TABLES if name != "covertype")
    yield from (f"text/{name}" for name in TEXTS)
    yield "table/covertype"


def read(key: str) -> DataSet:
    """A data set by its key."""
    collection, name = key.split("/")
    return {"pmlb": small_table, "table": table, "text": texts}[collection](name)


def small_table(name: str) -> DataSet:
    frame = pd.read_csv(DATA / "pmlb" / f"{name}.tsv.gz", sep="\t")
    labels = frame.pop("target").astype(str).to_numpy(dtype=object)
    return DataSet("pmlb", name, frame, labels, k_folds(labels, 5), "5-fold")


def table(name: str) -> DataSet:
    if name == "adult":
        train, test = (pd.read_csv(DATA / "table" / f"adult_{part}.csv.gz") for part in ("train", "test"))
        frame, cut = pd.concat([train, test], ignore_index=True), len(train)
    else:
        frame = pd.read_csv(DATA / "table" / ("titanic3.csv" if name == "titanic3" else f"{name}.csv.gz"))
    labels = frame.pop(TABLES[name]).astype(str).to_numpy(dtype=object)
    frame = frame.drop(columns=NO_FEATURES.get(name, []))
    if name == "adult":
        indices = np.arange(len(frame))
        return DataSet("table", name, frame, labels, ((indices[:cut], indices[cut:]),), "given split")
    if name == "covertype":
        fold = train_test_split(np.arange(len(frame)), test_size=0.2, random_state=SEED, stratify=labels)
        return DataSet("table", name, frame, labels, (tuple(fold),), "20 % held out")
    return DataSet("table", name, frame, labels, k_folds(labels, 5), "5-fold")


def texts(name: str) -> DataSet:
    rows = list(lines_of(name))
    if name in ("banking77", "clinc150"):
        indices = {part: [at for at, row in enumerate(rows) if row["split"] == part] for part in ("train", "test")}
        folds, protocol = ((np.array(indices["train"]), np.array(indices["test"])),), "given split"
    else:
        folds, protocol = k_folds([row["label"] for row in rows], 10), "10-fold"
    labels = np.array([row["label"] for row in rows], dtype=object)
    return DataSet("text", name, [row["text"] for row in rows], labels, folds, protocol)


def lines_of(name: str) -> Iterator[dict[str, str]]:
    """The documents of a file, lone surrogates replaced."""
    with gzip.open(DATA / "text" / f"{name}.jsonl.gz", "rt") as lines:
        for line in lines:
            row = json.loads(line)
            yield {**row, "text": row["text"].encode("utf-8", "replace").decode(), "label": str(row["label"])}


def k_folds(labels: Any, k: int) -> tuple[Fold, ...]:
    """Folds with the classes in equal proportions; a class rarer than k is in some of them only."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return tuple(StratifiedKFold(k, shuffle=True, random_state=SEED).split(np.zeros(len(labels)), labels))
