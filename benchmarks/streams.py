"""One text after another, asked first and learned then: Candide and river on the same events, side by side.

    python benchmarks/streams.py

Real events are the messages of ../shared/data/text/sms_spam.jsonl.gz, repeated where they are too few; others are made
here, with Zipf's words. Both lower-case and take runs of two or more word characters for words; smoothing is 1. (They
still differ where a word was never seen: to Candide it says nothing, to river that the class with fewer words is
likelier.) Both work on one core, so the clock is that of the processor: a busy machine does not blur it.
"""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

from candide import NaiveBayes, TextOptions
from measure import machine, publish, table

SMS = Path(__file__).resolve().parents[2] / "shared" / "data" / "text" / "sms_spam.jsonl.gz"
SIZES = (1000, 2000, 4000, 8000)
ROUNDS = 5

Event = tuple[str, str]


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


def compared(name: str, events: list[Event]) -> list[list[str]]:
    """A line for each number of events."""
    lines = []
    for size in SIZES:
        some = events[:size]
        runs = [(lived(candide, some), lived(river, some)) for _ in range(ROUNDS)]
        mine, theirs = (1e6 / size * min(run[side][0] for run in runs) for side in (0, 1))
        agreed = alike(runs[0][0][1], runs[0][1][1])
        lines.append([name, f"{size:,}", f"{mine:.1f}", f"{theirs:.1f}", f"{theirs / mine:.1f}", f"{agreed:.1%}"])
    return lines


def main() -> None:
    lived(candide, made(10))
    header = ["events", "how many", "candide µs", "river µs", "times faster", "same answer"]
    lines = [line for name, events in (("sms_spam", messages(SIZES[-1])), ("made", made(SIZES[-1]))) if events
             for line in compared(name, events)]  # fmt: skip
    clock = f"{machine('candide', 'river')}; the best of {ROUNDS} turns, processor microseconds an event."
    title = "# Streams: predict_proba_one, then learn_one, for each event"
    publish("streams", f"{title}\n\n{clock}\n\n{table(header, lines)}")


if __name__ == "__main__":
    main()
