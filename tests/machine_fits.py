"""Default fits whose files machines compare: `python tests/machine_fits.py FOLDER` writes those of the rows it holds.

Rows are handed over in files: making them anew would round differently, too.
"""

from __future__ import annotations

import gzip
import json
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from candide import NaiveBayes
from candide.store.model_file import to_bytes

DATA = Path(__file__).parents[2] / "shared" / "data"
WORDS = [f"{first}{last}" for first in ("sun", "rain", "wind", "hill") for last in ("y", "s", " road", "er", "ing")]

Rows = tuple[pd.DataFrame, pd.Series]


def every_kind(seed: int, rows: int = 240) -> Rows:
    """Numbers of several shapes, counts, categories few and many, truths, times and gaps."""
    rng = np.random.default_rng(seed)
    label = rng.choice(["left", "middle", "right"], rows, p=[0.5, 0.3, 0.2])
    code = np.searchsorted(["left", "middle", "right"], label)
    days = rng.integers(0, 700, rows) + 40 * code
    frame = pd.DataFrame(
        {
            "bell": rng.normal(code, 1.5),
            "twin": rng.normal(2 * code, 1.0),
            "humps": np.where(rng.random(rows) < 0.5, -4, 4) * (code == 1) + rng.normal(0, 1, rows),
            "tail": np.exp(rng.normal(0.5 * code, 1.0)).round(3),
            "visits": rng.poisson(2.0 + code),
            "grade": rng.integers(0, 5, rows) + code,
            "town": np.array([f"town {n}" for n in range(40)])[(rng.integers(0, 30, rows) + 4 * code) % 40],
            "colour": np.array(["red", "green", "blue"])[(code + (rng.random(rows) < 0.4)) % 3],
            "member": rng.random(rows) < 0.3 + 0.2 * code,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(days, "D"),
        }
    )
    frame.loc[rng.random(rows) < 0.1, "bell"] = np.nan
    frame.loc[rng.random(rows) < 0.1, "town"] = None
    return frame, pd.Series(label)


def bells(seed: int, rows: int = 150) -> Rows:
    """Numbers that go together, so that one bell with a covariance does best."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, rows)
    mixing = rng.normal(size=(4, 4))
    return pd.DataFrame(rng.normal(size=(rows, 4)) @ mixing + code[:, None] * [1, -1, 1, 0]), pd.Series(code)


def symmetric(seed: int, rows: int = 256) -> Rows:
    """Where ties are the rule: the classes mirror each other, and many bins, values and answers are as good."""
    bits = (np.arange(rows)[:, None] >> np.arange(8)) & 1
    label = bits[:, 0] ^ (bits[:, 1] & bits[:, 2])
    frame = pd.DataFrame(bits[:, :4], columns=list("abcd")).assign(
        number=(np.arange(rows) * 37 + seed) % 64 / 4, name=[f"v{n % 24}" for n in range(rows)]
    )
    return frame, pd.Series(label)


def together(seed: int, rows: int = 300) -> Rows:
    """Columns that tell only together, as a linear layer of products hears it."""
    rng = np.random.default_rng(seed)
    answers, number = rng.random((rows, 5)) < 0.4, rng.normal(0, 1, rows)
    label = (answers.sum(axis=1) == 2) == (rng.random(rows) < 0.95)
    return pd.DataFrame(answers, columns=list("abcde")).assign(number=number), pd.Series(label)


def texts(seed: int, rows: int = 120) -> Rows:
    """Texts alone."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, rows)
    said = [" ".join(rng.choice(WORDS[4 * c : 4 * c + 12], rng.integers(3, 15))) for c in code]
    return pd.DataFrame({"text": said}), pd.Series(code)


def mixed(seed: int, rows: int = 120) -> Rows:
    """Texts beside numbers and categories."""
    frame, label = every_kind(seed, rows)
    said = texts(seed, rows)[0]["text"]
    return frame[["bell", "tail", "town", "member"]].assign(said=said), label


MADE: dict[str, Callable[[int], Rows]] = {
    f.__name__: f for f in (every_kind, bells, symmetric, together, texts, mixed)
}
LABELS = {"adult_train": "income", "titanic3": "survived", "german_credit": "risk", "heart_cleveland": "disease"}


def real(kind: str, name: str, most: int = 2000) -> Rows:
    """Some rows of a data set that does not come with the project."""
    if kind == "text":
        with gzip.open(DATA / kind / f"{name}.jsonl.gz", "rt") as lines:
            frame = pd.DataFrame([json.loads(line) for line, _ in zip(lines, range(most), strict=False)])
        return frame[["text"]], frame["label"]
    label = LABELS.get(name, "target")
    path = next((DATA / kind).glob(f"{name}.[ct]sv*"))
    frame = pd.read_csv(path, nrows=most, sep="\t" if kind == "pmlb" else ",")
    return frame.drop(columns=label), frame[label]


def rows_of(name: str) -> Rows:
    """The rows by name: `every_kind 3` is made from a seed, `pmlb iris` a data set."""
    kind, which = name.split()
    return MADE[kind](int(which)) if kind in MADE else real(kind, which)


def model_file(rows: Rows) -> bytes:
    """The file of a default fit, without where it came from and when."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return to_bytes(replace(NaiveBayes().fit(*rows).trained_, provenance={}))


if __name__ == "__main__":
    for path in sorted(Path(sys.argv[1]).glob("*.pickle")):
        path.with_suffix(".candide").write_bytes(model_file(pd.read_pickle(path)))
