"""Every verb on tables nobody would make on purpose: it works or it is refused in a sentence, and nothing is lost.

Each seed is a session: a hostile table is fitted, asked, learned, forgotten, merged and drawn from, in files of some
format. CANDIDE_THOROUGH=1 plays more of them.
"""

from __future__ import annotations

import csv
import json
import math
import os
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from candide.api import verbs
from candide.data.errors import CandideError

SESSIONS = 100 if os.environ.get("CANDIDE_THOROUGH") == "1" else 8

NUMBERS = ["0", "-0", "1", "2.5", "1e308", "-1e308", "5e-324", "1e400", "inf", "-inf", "nan", "007", "1,5", "€3", "12%"]
DATES = ["2024-02-29", "31.12.2024", "12/31/2024", "2024-13-45", "1901-01-01", "2024-01-01T00:00:00Z"]
WORDS = ["", " ", "NA", "?", "-", "null", "True", "red", "Ünï", "日本語", "😡", "\x1b[31m", "=cmd|'/c calc'!A0",
         'a "quote"', "a,b;c\td", "line\nbreak", "\u202egnp.exe", "e\u0301" * 9, "x" * 3000,
         "many words in one long text again"]  # fmt: skip
NAMES = ["x", "y z", "", "prediction", "label", "probability", "Ω", "x\x1b[2J", "a" * 300, "=1+1", "x1", "text", "id"]
LABELS = ["a", "b", "ä b", "1", "unsure", "\x1b[1mc"]


def a_column(random: random.Random, rows: int) -> list[str]:
    """Values of one kind, with some of another strewn in."""
    kinds = [
        lambda: random.choice(NUMBERS),
        lambda: random.choice(WORDS),
        lambda: random.choice(DATES),
        lambda: f"{random.gauss(0, 1):.3g}",
        lambda: str(random.randrange(5)),
        lambda: " ".join(random.choices(["spam", "ham", "eggs", "日本", "nice"], k=random.randrange(6))),
        lambda: random.choice("uvw"),
        lambda: "constant",
        lambda: str(random.getrandbits(80)),
    ]
    common, rare = random.choice(kinds), random.choice(kinds)
    share = random.choice([0, 0, 0.02, 0.5])
    return [(rare if random.random() < share else common)() for _ in range(rows)]


def a_table(random: random.Random, names: list[str], labels: list[str]) -> dict[str, list[str]]:
    rows = random.choice([1, 2, 7, 40, 120])
    table = {name: a_column(random, rows) for name in names}
    return {**table, "class": [random.choice(labels) for _ in range(rows)]}


def written(random: random.Random, table: dict[str, list[str]], path: Path) -> Path:
    """The table as a file of some format."""
    kind = random.choice(["csv", "jsonl", "parquet"])
    path = path.with_suffix(f".{kind}")
    if kind == "csv":
        ends = random.choice(["\n", "\r\n"])
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator=ends).writerows([[*table], *zip(*table.values(), strict=True)])
    elif kind == "jsonl":
        rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
        path.write_text("".join(f"{json.dumps(row, ensure_ascii=random.random() < 0.5)}\n" for row in rows))
    else:
        pa_parquet.write_table(pa.table(table), path)
    return path


def refused_or(action):
    """What an action gives, or None where it was refused as it should be; any other error fails the test."""
    try:
        return action()
    except CandideError:
        return None


def unchanged(model: Path, action):
    """What an action on a model file gives; if it is refused, the file is as it was."""
    before = model.read_bytes()
    result = refused_or(action)
    if result is None:
        assert model.read_bytes() == before
    return result


def a_session(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    names = chance.sample(NAMES, chance.randrange(1, 6))
    labels = chance.sample(LABELS, chance.choice([1, 2, 2, 3, 5]))
    tables = [written(chance, a_table(chance, names, labels), folder / f"rows{part}") for part in range(3)]
    model = folder / "model.candide"
    if refused_or(lambda: verbs.fit(tables[0], "class", model)) is None:
        assert not model.exists()
        return
    for table in tables:
        unchanged(model, lambda table=table: check_answers(model, table))
        unchanged(model, lambda table=table: [str(why) for why in verbs.explain(model, table)])
        refused_or(lambda table=table: verbs.evaluate(model, table))
    if unchanged(model, lambda: verbs.learn(model, tables[1])) is not None:
        unchanged(model, lambda: verbs.forget(model, tables[2]))
        check_answers(model, tables[0])
        if unchanged(model, lambda: verbs.forget(model, tables[1])) is not None:
            check_answers(model, tables[0])
    refused_or(lambda: verbs.merge([model, model], folder / "twice.candide"))
    str(verbs.inspect(model))
    refused_or(lambda: verbs.sample(model, 5, seed=seed))
    if seed % 8 == 0:
        refused_or(lambda: verbs.report(model, folder / "report.html"))


def check_answers(model: Path, table: Path):
    """Every row is answered, with probabilities that are some."""
    found = verbs.predict(model, table, probabilities=True)
    chances = [column.to_numpy() for column in found.table.columns[-len(verbs.load(model).classes) :]]
    total = np.sum(chances, axis=0)
    assert np.isfinite(total).all()
    assert all(math.isclose(one, 1, abs_tol=1e-9) for one in total)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(SESSIONS))
def test_every_verb_works_or_refuses(seed, tmp_path):
    a_session(seed, tmp_path)
