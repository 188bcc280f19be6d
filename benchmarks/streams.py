"""One row after another, asked first and learned then: Candide and river on the same events, side by side.

    python benchmarks/streams.py

Real events are the messages of ../shared/data/text/sms_spam.jsonl.gz, repeated where they are too few; others are made
here: texts of Zipf's words, and rows of numbers, of categories and of both. For texts both lower-case and take runs of
two or more word characters for words; smoothing is 1. (They still differ where a word was never seen: to Candide it
says nothing, to river that the class with fewer words is likelier.) Rows of a table are learned with defaults: Candide
chooses families while it learns, river takes numbers for bells and categories for truths, one for each value. Both work
on one core, so the clock is that of the processor: a busy machine does not blur it.

A second table has what learning costs by itself, one by one and in batches.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from candide import NaiveBayes, TextOptions
from measure import machine, publish, table

SMS = Path(__file__).resolve().parents[2] / "shared" / "data" / "text" / "sms_spam.jsonl.gz"
SIZES = (1000, 2000, 4000, 8000)
ROUNDS = 5

ROWS_ONE_BY_ONE, BATCHES, ROWS_IN_A_BATCH, COLUMNS_IN_A_BATCH = 10_000, 10, 2_000, 20

Event = tuple[Any, str]


def messages(size: int) -> list[Event]:
    """Short messages, spam or not; none where the file is not there."""
    if not SMS.exists():
        print(f"sms_spam: skipped, as {SMS} is not there.")
        return []
    with gzip.open(SMS, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return list(islice(cycle([(row["text"], row["label"]) for row in rows]), size))


def made(size: int) -> list[Event]:
    """Texts of some fifteen Zipf words, each class with favourites among the rare ones."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), n)) for n in rng.integers(3, 10, 20_000)])
    chances = 1.0 / np.arange(1, len(words) + 1)
    shuffled = np.concatenate([np.arange(50), rng.permutation(np.arange(50, len(words)))])
    order = {"ham": np.arange(len(words)), "spam": shuffled}
    events = []
    for label in rng.choice(["ham", "spam"], size, p=[0.8, 0.2]).tolist():
        drawn = order[label][rng.choice(len(words), rng.integers(5, 26), p=chances / chances.sum())]
        events.append((" ".join(words[drawn]), label))
    return events


def rows(size: int, numbers: int, categories: int) -> list[Event]:
    """Rows of a table: bells that two classes have in different places, one of counts, one skewed; and categories."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, size)
    table = rng.normal(size=(size, numbers)) * (1 + labels[:, None]) + labels[:, None]
    if numbers > 2:
        table[:, 0], table[:, 1] = np.exp(table[:, 0]), rng.poisson(3 + 2 * labels)
    values = rng.integers(0, 6, (size, categories)) + labels[:, None] * rng.integers(0, 3, (size, categories))
    events = []
    for line, kinds, label in zip(table.tolist(), values.tolist(), labels.tolist(), strict=True):
        row = {f"number {n}": x for n, x in enumerate(line)} | {f"kind {n}": f"k{x}" for n, x in enumerate(kinds)}
        events.append((row, "ab"[label]))
    return events


def river_rows(numbers: int, categories: int) -> Any:
    """The model that river has for such rows."""
    from river import compose, naive_bayes, preprocessing

    if not categories:
        return naive_bayes.GaussianNB()
    values = compose.SelectType(str) | preprocessing.OneHotEncoder()
    if not numbers:
        return values | naive_bayes.BernoulliNB()
    return (compose.SelectType(float) + values) | naive_bayes.GaussianNB()


def candide() -> Any:
    return NaiveBayes(text=TextOptions(words="sklearn"))


def river() -> Any:
    from river import feature_extraction, naive_bayes

    words = feature_extraction.BagOfWords(lowercase=True, tokenizer_pattern=r"(?u)\b\w\w+\b")
    return words | naive_bayes.MultinomialNB(alpha=1.0)


def lived(make: Callable[[], Any], events: list[Event]) -> tuple[float, list[dict[str, float]]]:
    """Seconds for all events, each asked and then learned, and the answers."""
    model = make()
    ask, learn = model.predict_proba_one, model.learn_one
    start = time.process_time()
    answers = []
    for text, label in events:
        answers.append(ask(text))
        learn(text, label)
    return time.process_time() - start, answers


def alike(mine: list[dict[str, float]], theirs: list[dict[str, float]]) -> float:
    """The share of events on which both would say the same, once both know two classes."""
    pairs = [(a, b) for a, b in zip(mine, theirs, strict=True) if len(a) == len(b) == 2]
    return sum(max(a, key=a.__getitem__) == max(b, key=b.__getitem__) for a, b in pairs) / len(pairs)


def compared(name: str, events: list[Event], mine: Callable[[], Any], theirs: Callable[[], Any]) -> list[list[str]]:
    """A line for each number of events."""
    lines = []
    for size in SIZES:
        some = events[:size]
        runs = [(lived(mine, some), lived(theirs, some)) for _ in range(ROUNDS)]
        own, other = (1e6 / size * min(run[side][0] for run in runs) for side in (0, 1))
        agreed = alike(runs[0][0][1], runs[0][1][1])
        lines.append([name, f"{size:,}", f"{own:.1f}", f"{other:.1f}", f"{other / own:.1f}", f"{agreed:.1%}"])
    return lines


def learned(events: list[Event]) -> float:
    """Seconds for all events, learned and never asked about."""
    model = NaiveBayes()
    start = time.process_time()
    for row, label in events:
        model.learn_one(row, label)
    return time.process_time() - start


def learned_in_batches() -> float:
    """Seconds for batches of numbers, learned and never asked about."""
    rng = np.random.default_rng(2)
    size = BATCHES * ROWS_IN_A_BATCH
    labels = rng.integers(0, 2, size)
    table = rng.normal(size=(size, COLUMNS_IN_A_BATCH)) + labels[:, None]
    model = NaiveBayes()
    start = time.process_time()
    for part, some in zip(np.split(table, BATCHES), np.split(labels, BATCHES), strict=True):
        model.partial_fit(part, some)
    return time.process_time() - start


def costs() -> list[list[str]]:
    """What rows of numbers cost a model left to its defaults, as lines of a table: µs a row."""
    events, batch_rows = rows(ROWS_ONE_BY_ONE, 10, 0), BATCHES * ROWS_IN_A_BATCH
    work: list[tuple[str, int, Callable[[], float]]] = [
        ("10 numbers, learned, the first thousand", 1000, lambda: learned(events[:1000])),
        ("10 numbers, learned", len(events), lambda: learned(events)),
        ("10 numbers, asked and learned, the first thousand", 1000, lambda: lived(NaiveBayes, events[:1000])[0]),
        ("10 numbers, asked and learned", len(events), lambda: lived(NaiveBayes, events)[0]),
        (f"{COLUMNS_IN_A_BATCH} numbers, in {BATCHES} batches", batch_rows, learned_in_batches),
    ]
    return [[name, f"{size:,}", f"{1e6 / size * min(run() for _ in range(ROUNDS)):.1f}"] for name, size, run in work]


def main() -> None:
    lived(candide, made(10))
    lived(NaiveBayes, rows(100, 3, 3))
    most = SIZES[-1]
    lines = [line for name, events in (("sms_spam", messages(most)), ("made", made(most))) if events
             for line in compared(name, events, candide, river)]  # fmt: skip
    for name, numbers, categories in (("6 numbers", 6, 0), ("6 categories", 0, 6), ("3 of each", 3, 3)):
        events = rows(most, numbers, categories)
        lines += compared(name, events, NaiveBayes, partial(river_rows, numbers, categories))
    clock = f"{machine('candide', 'river')}; the best of {ROUNDS} turns, processor microseconds an event."
    title = "# Streams: predict_proba_one, then learn_one, for each event"
    header = ["events", "how many", "candide µs", "river µs", "times faster", "same answer"]
    alone = table(["rows", "how many", "µs a row"], costs())
    publish("streams", f"{title}\n\n{clock}\n\n{table(header, lines)}\n\n## Learning with defaults\n\n{alone}")


if __name__ == "__main__":
    main()
