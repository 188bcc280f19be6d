"""A fuzzer for model files: whatever is done to one, it is refused, or it answers as a model does, in little memory."""

from __future__ import annotations

import json
import math
import os
import random
import tracemalloc
import zlib
from functools import cache

import numpy as np
import pytest

from candide import families, store
from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.families.base.family import Block
from candide.families.words.options import TextOptions
from candide.model.calibration import Calibration
from candide.model.novelty import LEVELS, Novelty
from candide.model.options import Options
from candide.model.predictor import normalised
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.model.tuning import Tuning
from candide.statistics.exact import ExactSums
from candide.statistics.sums import Sums
from candide.store import ModelFileRefused, container
from candide.store.model_file import FREE_MEMORY
from strategies import CASES, ORDINARY, blocks_of, taken
from test_store import forged, parts_of

ROUNDS = 600 if os.environ.get("CANDIDE_THOROUGH") == "1" else 12
MOST_MEMORY = FREE_MEMORY + 2**26
RECIPES = {
    "bernoulli text": TextOptions(model="bernoulli", weighting="presence"),
    "poisson text": TextOptions(model="poisson"),
    "complement text, log, idf": TextOptions(model="complement", weighting="log", idf=True),
    "hashed text, unit": TextOptions(hashed=8, weighting="unit", ngrams=2),
}
KINDS = [*CASES, *RECIPES]


@cache
def blocks(kind):
    if kind in RECIPES:
        return (Block(families.named("text", options=RECIPES[kind]), ("x0",)),)
    return blocks_of(kind)


@cache
def rows(kind):
    """Thirty rows of three classes, most cells there."""
    rng = random.Random(zlib.crc32(kind.encode()))
    texts = ("red apple", "green pear", "red and green", "a quince", "")
    values = {}
    for block in blocks(kind):
        pool = texts if block.family.name == "text" else taken(block.family, ORDINARY)
        for name in block.columns:
            values[name] = [None if rng.random() < 0.1 else rng.choice(pool) for _ in range(30)]
    return Batch.of(values, [rng.choice("abc") for _ in range(30)])


@cache
def file_of(kind):
    """A model of the kind, calibrated as if `fit` had done it."""
    schema = Schema(tuple(Choice(name, block.family, "as said") for block in blocks(kind) for name in block.columns))
    keys = [block.key for block in schema.blocks]
    summary = schema.summarize(rows(kind))
    biases, halves = {key: 0.25 * index for index, key in enumerate(summary.classes)}, dict.fromkeys(keys, 0.5)
    novelty = Novelty({key: tuple((-9.0 + 8 * LEVELS).tolist()) for key in keys})
    tuning = Tuning(Calibration(biases, halves, halves), novelty)
    return store.to_bytes(TrainedModel(Options(), schema, summary, "label", tuning, provenance={"rows": 30}))


def flipped(data, rng):
    """A few bits of the file turned."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def truncated(data, rng):
    return data[: rng.randrange(len(data))]


def spliced(data, rng):
    """A piece of another model's file in the middle of this one."""
    other = file_of(rng.choice(KINDS))
    start, stop = sorted(rng.randrange(len(other)) for _ in range(2))
    index = rng.randrange(len(data))
    return data[:index] + other[start:stop] + data[index + rng.choice([0, stop - start]) :]


def forged_bits(data, rng):
    """Bits of the arrays turned, and every checksum made right."""
    head, body = parts_of(data)
    return forged(head, flipped(body, rng))


def forged_words(data, rng):
    """Whole numbers in the arrays replaced by others, and every checksum made right."""
    head, body = parts_of(data)
    numbers = np.frombuffer(body[: len(body) // 8 * 8], dtype=np.int64).copy()
    for _ in range(rng.randint(1, 3)):
        chosen = rng.choice([0, 1, -1, 2, 2**31, 2**32 - 1, 2**62, -(2**63), rng.getrandbits(40)])
        numbers[rng.randrange(len(numbers))] = chosen
    return forged(head, numbers.tobytes() + body[numbers.nbytes :])


def relabelled(data, rng):
    """An array said to be of another type of the same size, or of another shape."""
    head, body = parts_of(data)
    entry = head[rng.choice([name for name in head if name != container.METADATA])]
    if rng.random() < 0.5:
        entry["dtype"] = {"I64": "F64", "U8": "I8", "I32": "F32"}[entry["dtype"]]
    else:
        entry["shape"] = rng.choice([entry["shape"][::-1], [*entry["shape"], 1], [math.prod(entry["shape"])]])
    return forged(head, body)


def edited(data, rng):
    """Numbers in the texts of the head replaced by others, and every checksum made right."""
    head, body = parts_of(data)
    name = rng.choice(["model", "model", "model", "provenance"])
    text = json.loads(head[container.METADATA][name])
    indices = list(numbers_in(text))
    for _ in range(rng.randint(1, 2)):
        if indices:
            holder, key = rng.choice(indices)
            extreme = [0, 1, -1, 2, 3, 28, 0.5, -0.5, 1e-300, 1e300, 2**53 - 1, {"$float": "inf"}, {"$float": "nan"}]
            holder[key] = rng.choice([*extreme, True, None, "1", [], {"$whole": hex(2**80)}])
    head[container.METADATA][name] = container.to_json(text)
    return forged(head, body)


def numbers_in(data):
    """Where numbers stand in some JSON data."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        if isinstance(value, (dict, list)):
            yield from numbers_in(value)
        elif isinstance(value, (int, float)):
            yield data, key


DAMAGES = (flipped, truncated, spliced, forged_bits, forged_words, relabelled, edited)


def answers(data, question):
    """Whether the file is refused; else it answers, with probabilities."""
    try:
        learned = store.from_bytes(data)
        model = learned.predictor
        shares = normalised(model.reported(question), model.log_prior)
    except CandideError:
        return False
    assert np.isfinite(shares).all()
    assert not len(model.classes) or np.allclose(shares.sum(axis=1), 1)
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_answers(kind):
    rng = random.Random(zlib.crc32(kind.encode()))
    data, question = file_of(kind), rows(kind)
    assert answers(data, question)
    damaged = [(damage, damage(data, rng)) for damage in DAMAGES for _ in range(ROUNDS)]
    tracemalloc.start()
    try:
        for number, (damage, forgery) in enumerate(damaged):
            problem = f"{damage.__name__} of {kind}, number {number}"
            assert answers(forgery, question) in (True, False), problem
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, problem
    except Exception as found:
        found.add_note(problem)
        raise
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", KINDS)
def test_counts_that_are_called_fractions_are_refused(kind):
    """Each array in turn is said to hold another type of the same size."""
    head, body = parts_of(file_of(kind))
    for name in [name for name in head if name != container.METADATA]:
        if head[name]["dtype"] == "I64":
            head[name]["dtype"] = "F64"
            with pytest.raises(ModelFileRefused):
                store.from_bytes(forged(head, body))
            head[name]["dtype"] = "I64"


def test_a_small_file_cannot_ask_for_gigabytes():
    head, body = parts_of(file_of("hashed text, unit"))
    head[container.METADATA]["model"] = head[container.METADATA]["model"].replace('"hashed":8', '"hashed":28')
    tracemalloc.start()
    with pytest.raises(ModelFileRefused, match="MB of memory"):
        store.from_bytes(forged(head, body))
    assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    tracemalloc.stop()


def test_sums_with_a_negative_variance_do_not_load():
    schema = Schema((Choice("x", families.named("gaussian"), ""),))
    summary = schema.summarize(Batch.of({"x": [1.0, 2.0, 4.0]}, ["a", "a", "b"]))
    seen = summary.statistics[0]
    less = Sums(seen.weight, seen.total, seen.square - ExactSums.of(np.array([[1.0, 0.0]])))
    fewer = Summary(summary.blocks, summary.classes, summary.counts, (less,))
    data = store.to_bytes(TrainedModel(Options(), schema, fewer))
    with pytest.raises(ModelFileRefused, match="no rows have"):
        store.from_bytes(data)
