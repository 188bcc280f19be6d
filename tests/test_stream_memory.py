"""A stream that learns and forgets ever new things stays as small as what it knows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from candide import NaiveBayes, TextOptions, store
from candide.families.categorical import Categorical

Event = tuple[Any, str]
WINDOW, EVENTS = 20, 1000
SLACK = 50
"""Bytes for each event, with which tables may lag behind what is known: far fewer than an event takes."""


def size(thing: Any, seen: set[int]) -> int:
    """The bytes of all arrays, and the entries of all collections, that something holds."""
    if id(thing) in seen or isinstance(thing, (type, str, bytes, int, float)):
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    parts = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    parts += [getattr(thing, name, None) for name in getattr(type(thing), "__slots__", ())]
    if isinstance(thing, dict):
        parts += [*thing, *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        parts += [*thing]
    else:
        return sum(size(part, seen) for part in parts)
    return 16 * len(thing) + sum(size(part, seen) for part in parts)


def alphabets(model: NaiveBayes) -> set[int]:
    """The tables of characters, which all texts share."""
    builders = [block.builder for block in model._stream.live_blocks.values()]
    return {id(table) for builder in builders for table in getattr(builder, "letters", ())}


def live_size(model: NaiveBayes) -> int:
    """What the tables of a stream hold, without the frozen form that is made when somebody asks."""
    stream: Any = model._stream
    tables = [stream.live_blocks, stream.index_of, stream.counts, stream.columns, stream.choices, stream.free]
    return size(tables, alphabets(model))


def word(number: int) -> str:
    return f"w{number:05d}"


STREAMS: dict[str, tuple[dict[str, Any], Callable[[int], Event]]] = {
    "words": ({}, lambda n: (f"the {word(n)} and {word(-n)} {word(7 * n)}", "ab"[n % 2])),
    "words of many classes": ({}, lambda n: (f"the {word(n)} and {word(-n)}", f"class {n % 40}")),
    "hashed words of many classes": (
        {"text": TextOptions(hashed=12)}, lambda n: (f"the {word(n)} and {word(-n)}", f"class {n % 40}"),
    ),
    "pairs of words": (
        {"text": TextOptions(shortest=2, ngrams=2)}, lambda n: (f"the {word(n)} and {word(-n)}", "ab"[n % 2])
    ),
    "words under another model": (
        {"text": TextOptions(model="bernoulli", weighting="presence")}, lambda n: (f"the {word(n)}", "ab"[n % 2])
    ),
    "categories": ({}, lambda n: ({"colour": word(n), "shape": word(n // 9)}, "ab"[n % 2])),
    "grouped categories": (
        {"families": {"colour": Categorical(grouped=True)}}, lambda n: ({"colour": word(n)}, "ab"[n % 2])
    ),
    "classes": ({}, lambda n: ({"colour": "red", "round": True}, word(n))),
    "classes of texts": ({}, lambda n: ("the same words", word(n))),
    "columns": ({}, lambda n: ({"size": n / 3, word(n): n / 7, f"c{word(n)}": "red"}, "ab"[n % 2])),
    "columns of text": ({}, lambda n: ({"size": n / 3, word(n): "several words"}, "ab"[n % 2])),
}  # fmt: skip


def few(name: str) -> int:
    """Blocks that are fitted or widened whole at each change are slow, so they get fewer events."""
    if "columns" in name:
        return EVENTS // 10
    return EVENTS // 4 if name in ("grouped categories", "words under another model") else EVENTS


def window(name: str) -> Iterator[tuple[NaiveBayes, int]]:
    """A stream in which each event is forgotten after some others."""
    options, event = STREAMS[name]
    model = NaiveBayes(**options)
    for number in range(few(name)):
        model.learn_one(*event(number))
        if number >= WINDOW:
            model.forget_one(*event(number - WINDOW))
        yield model, number


def opened_anew(model: NaiveBayes, event: Event) -> NaiveBayes:
    """The same model, its tables made from what it knows; asked once, so that they are there."""
    fresh = NaiveBayes.of(model.trained_)
    fresh.predict_one(event[0])
    return fresh


@pytest.mark.parametrize("name", STREAMS)
def test_tables_are_bounded_by_what_is_known(name: str) -> None:
    event = STREAMS[name][1]
    largest = 0
    for model, number in window(name):
        if number % (few(name) // 10) == 0:
            largest = max(largest, live_size(model))
    assert model.summary_.rows == WINDOW
    fresh = opened_anew(model, event(number))
    assert largest <= 2 * live_size(fresh) + SLACK * few(name)
    asked = event(number - 3)[0]
    assert model.predict_proba_one(asked) == pytest.approx(fresh.predict_proba_one(asked))
    only = NaiveBayes(**STREAMS[name][0])
    for late in range(number - WINDOW + 1, number + 1):
        only.learn_one(*event(late))
    assert store.canonical_bytes(model.trained_) == store.canonical_bytes(only.trained_)


@pytest.mark.parametrize("name", [name for name in STREAMS if "columns" not in name])
def test_tables_shrink_with_what_is_known(name: str) -> None:
    options, event = STREAMS[name]
    model, many = NaiveBayes(**options), few(name)
    for number in range(many):
        model.learn_one(*event(number))
    order = random.Random(1).sample(range(10, many), many - 10)
    for number in order:
        model.forget_one(*event(number))
    assert model.summary_.rows == 10
    fresh = opened_anew(model, event(1))
    assert live_size(model) <= 2 * live_size(fresh) + SLACK * few(name)
    assert model.predict_proba_one(event(1)[0]) == pytest.approx(fresh.predict_proba_one(event(1)[0]))


def test_a_stream_does_not_hold_on_to_the_model_it_was_opened_over() -> None:
    texts = [f"{word(n)} {word(-n)}" for n in range(3000)]
    model = NaiveBayes(families="guess", smoothing="default", calibrate=False).fit(texts, ["a", "b"] * 1500)
    for n in range(2990):
        model.forget_one(texts[n], "ab"[n % 2])
    assert model.summary_.rows == 10
    assert size(vars(model), alphabets(model)) <= 400_000


def test_a_class_that_comes_back_begins_at_zero() -> None:
    model = NaiveBayes()
    for number in range(300):
        model.learn_one({"size": 1.0, "colour": "red", "text": "some words"}, f"old {number}")
    for number in range(299):
        model.forget_one({"size": 1.0, "colour": "red", "text": "some words"}, f"old {number}")
    model.learn_one({"size": 2.0, "colour": "blue", "text": "other words"}, "new")
    fresh = NaiveBayes().learn_one({"size": 1.0, "colour": "red", "text": "some words"}, "old 299")
    fresh.learn_one({"size": 2.0, "colour": "blue", "text": "other words"}, "new")
    assert model.summary_ == fresh.summary_
    asked = {"size": 1.4, "colour": "blue", "text": "some other words"}
    assert model.predict_proba_one(asked) == pytest.approx(fresh.predict_proba_one(asked))
