"""The model file gives back what it was given, is refused when anything about it is wrong, and survives every crash."""

from __future__ import annotations

import datetime
import errno
import json
import os
import random
import re
import signal
import sys
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from candide import families, store
from candide.data.batch import Batch
from candide.data.errors import CandideError
from candide.data.values import Coded, key_of
from candide.families.base.family import Block
from candide.families.words.options import TextOptions
from candide.model.options import Options
from candide.model.predictor import Predictor
from candide.model.schema import Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.statistics.tally import Tally
from candide.statistics.word_tally import WordTally
from candide.store import ModelFileNotWritten, ModelFileRefused, container
from candide.store.parts import Parts
from candide.store.words import read_words, write_words
from strategies import CASES, blocks_of, tables

VERSION_1 = Path(__file__).parent / "data" / "version-1.candide"
ANSWERS_1 = VERSION_1.with_suffix(".json")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")


def schema_of(blocks):
    return Schema(tuple(Choice(name, block.family, "as drawn") for block in blocks for name in block.columns))


def saved_of(table, **more):
    options = Options(**more.pop("options", {}))
    return TrainedModel(options, schema_of(table.blocks), table.summary(), **more)


def small(rows=2, label="survived"):
    """A model with a tally of every kind, sums and cross sums."""
    both = "gaussian_full"
    kinds = {"class": "categorical", "alone": "bernoulli", "age": "lognormal", "x": both, "y": both}
    schema = Schema(tuple(Choice(name, families.named(kind), "as you said") for name, kind in kinds.items()))
    cells = {"class": ["first", 3], "alone": [1, 0], "age": [31.0, 64.5], "x": [0.5, 2.0], "y": [-1.0, 1e20]}
    batch = Batch.of({name: values * rows for name, values in cells.items()}, ["no", "yes"] * rows)
    origin = {"sources": ["titanic.csv"]}
    return TrainedModel(Options(priors="uniform"), schema, schema.summarize(batch), label, provenance=origin)


def large(seed=0, columns=200, classes=500):
    """A model of some megabytes, made without learning."""
    blocks = (Block(families.named("multinomial"), tuple(f"x{place}" for place in range(columns))),)
    counts = np.random.default_rng(seed).integers(0, 1000, (columns, classes))
    keys = tuple(("number", label) for label in range(classes))
    summary = Summary(blocks, keys, np.full(classes, seed + 1), (Tally(range(columns), counts),))
    return TrainedModel(Options(), schema_of(blocks), summary)


def again(saved):
    """Through the file's bytes and back."""
    return store.from_bytes(store.to_bytes(saved))


# Law 12: load(save(x)) = x.


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
def test_loading_gives_back_what_was_saved(case, data):
    blocks = blocks_of(case, columns=data.draw(st.integers(1, 3)))
    saved = saved_of(data.draw(tables(blocks)))
    loaded = again(saved)
    assert loaded == saved
    assert store.to_bytes(loaded) == store.to_bytes(saved)


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
def test_a_loaded_model_goes_on_learning_and_forgetting(case, data):
    first, second = (data.draw(tables(blocks_of(case))) for _ in range(2))
    loaded = again(saved_of(first)).summary
    assert loaded + second.summary() == first.summary() + second.summary()
    assert (loaded + second.summary()) - loaded == second.summary()


def test_a_file_on_disk_gives_back_everything(tmp_path):
    saved = small()
    store.save(saved, tmp_path / "model.candide")
    loaded = store.load(str(tmp_path / "model.candide"))
    assert loaded == saved
    assert loaded.provenance == saved.provenance
    assert [path.name for path in tmp_path.iterdir()] == ["model.candide"]


KINDS_OF_VALUES = (
    st.text(st.characters(codec=None), max_size=5),
    st.sampled_from(["\ud800", "\udc00x", "\ud83d\ude00", "😀", "", "a\0b"]),
    st.integers(),
    st.sampled_from([0, -1, 255, 256, -128, 2**63, -(2**63), 10**400, -(10**400)]),
    st.floats(allow_nan=False),
    st.booleans(),
    st.binary(max_size=5),
    st.dates(),
    st.datetimes(),
    st.times(),
)
values = st.one_of(*KINDS_OF_VALUES)


@settings(max_examples=100)
@given(cells=st.lists(st.one_of(values, st.none()), min_size=1, max_size=8), missing=st.booleans(), data=st.data())
def test_keys_of_every_kind_come_back_exactly(cells, missing, data):
    one_kind = data.draw(st.sampled_from(KINDS_OF_VALUES))
    labels = data.draw(st.lists(one_kind, min_size=len(cells), max_size=len(cells)))
    blocks = (Block(families.named("categorical", missing_is_value=missing), ("column",)),)
    summary = Summary.of(blocks, Batch.of({"column": cells}, Coded.of(labels)))
    declared = frozenset(key_of(label) for label in data.draw(st.lists(one_kind, max_size=3)))
    summary = summary + Summary.empty(blocks, declared)
    loaded = again(TrainedModel(Options(), schema_of(blocks), summary)).summary
    assert loaded == summary
    assert repr(loaded.classes) == repr(summary.classes)
    assert repr(loaded.statistics[0].slots) == repr(summary.statistics[0].slots)


plain = st.recursive(
    st.one_of(st.none(), values, st.floats(allow_nan=False), st.sampled_from([np.float64(0.5), np.int64(3)])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner, inner),
        st.dictionaries(st.text(max_size=3), inner, max_size=3),
        st.dictionaries(values, inner, max_size=3),
    ),
    max_leaves=8,
)


@settings(max_examples=50)
@given(options=st.dictionaries(st.sampled_from(["priors", "text", "families"]), plain))
def test_options_come_back(options):
    assume(not re.search(r"\\ud[89ab]..\\ud[c-f]..", repr(options)))
    assert again(replace(small(), options=Options(**options))).options == Options(**options)


def test_options_hold_families_and_text_recipes():
    options = {
        "families": {"x": families.named("binomial", trials=10), "y": "ignore"},
        "text": {"note": TextOptions(ngrams=2, stop_words=("a", "the"))},
        "priors": {1: 0.25, "1": 0.75},
        "class_weight": {True: 2.0},
    }
    loaded = again(replace(small(), options=Options(**options))).options
    assert loaded == Options(**options)
    assert type(loaded.families["x"].smoothing) is float
    assert type(*loaded.class_weight) is bool


def test_an_option_that_is_no_data_is_refused_by_name():
    with pytest.raises(CandideError, match="function"):
        store.to_bytes(replace(small(), options=Options(priors=lambda: None)))


def test_half_characters_that_json_would_join_are_refused():
    with pytest.raises(CandideError, match="halves"):
        store.to_bytes(replace(small(), label="\ud83d\ude00"))
    assert again(replace(small(), label="😀\ud800")).label == "😀\ud800"


def test_schema_and_summary_must_belong_together():
    with pytest.raises(CandideError, match="belong together"):
        replace(small(), schema=Schema(()))


def test_counts_that_are_no_whole_numbers_are_refused():
    blocks = (Block(families.named("multinomial"), ("a", "b")),)
    tally = Tally(range(2), np.array([[0.5, 0.0], [1e300, 0.25]]))
    summary = Summary(blocks, (("text", "no"), ("text", "yes")), np.array([1, 2]), (tally,))
    saved = TrainedModel(Options(), schema_of(blocks), summary)
    with pytest.raises(ModelFileRefused, match="float64"):
        again(saved)


def test_columns_left_out_and_reasons_are_kept():
    saved = small()
    choices = (Choice("id", None, "every value differs"), *saved.schema.choices, Choice("é\ud800", None, "empty"))
    with_more = replace(saved, schema=Schema(choices))
    assert again(with_more).schema.choices == choices


word_pairs = st.lists(st.tuples(st.binary(min_size=1, max_size=3), st.integers(0, 2), st.integers(0, 5)), max_size=12)


def text_block(**options):
    return Block(families.named("text", options=TextOptions(**options)), ("note",))


@given(pairs=word_pairs, with_frequency=st.booleans())
def test_words_come_back(pairs, with_frequency):
    frequency = {word: 1 for word, _, _ in pairs} if with_frequency else None
    seen = WordTally.of(pairs, [4, 0, 2], frequency)
    block = text_block(idf=with_frequency)
    assert read_words(Parts(write_words(seen, block)), block, 3) == seen


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("letters", 0, ord("z")),
        ("offsets", 0, 1),
        ("offsets", 1, -1),
        ("offsets", 1, 2**62),
        ("indptr", 1, 0),
        ("indptr", 1, 10**9),
        ("labels", 0, 3),
        ("labels", 1, 0),
        ("labels", 0, -1),
        ("counts", 0, 0),
        ("counts", 0, -1),
        ("counts", 0, 2**63 - 1),
        ("documents", 0, -1),
    ],
)
def test_words_out_of_form_are_refused(part, place, value):
    seen = WordTally.of([("cat", 0, 2), ("cat", 1, 2), ("dog", 2, 1)], [1, 1, 1])
    arrays = {name: array.copy() for name, array in as_format_1(seen).items()}
    arrays[part][place] = value
    with pytest.raises(ModelFileRefused):
        read_words(Parts(arrays), text_block(), 3)


def as_format_1(seen):
    """Words as files of format 1 have them: all spelled, in numbers of 64 bits."""
    return {"documents": seen.documents, **seen.lines._asdict()}


def tally_of(block, texts, labels=3):
    batch = Batch.of({"note": texts}, [f"class {row % labels}" for row in range(len(texts))])
    return Summary.of((block,), batch).statistics[0]


RUNS = [
    {"ngrams": 2}, {"shortest": 2, "ngrams": 3}, {"shortest": 3, "ngrams": 3, "weighting": "unit"},
    {"characters": True, "shortest": 2, "ngrams": 4}, {"ngrams": 2, "idf": True}, {"ngrams": 2, "hashed": 8},
]  # fmt: skip
phrases = st.lists(st.text(alphabet="ab é東", max_size=12), min_size=3, max_size=8)


@pytest.mark.parametrize("options", RUNS, ids=str)
@given(texts=phrases)
def test_runs_of_words_come_back_as_numbers_of_words(options, texts):
    block = text_block(**options)
    seen = tally_of(block, texts)
    arrays = write_words(seen, block)
    found = read_words(Parts(arrays), block, 3)
    assert found == seen
    assert read_words(Parts(as_format_1(seen)), block, 3) == seen
    again = write_words(found, block)
    assert arrays.keys() == again.keys()
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
    assert all(arrays[name].dtype == again[name].dtype for name in arrays)


@pytest.mark.parametrize(
    ("part", "place", "value"),
    [
        ("letters", 0, ord("z")),
        ("letters", 1, ord(" ")),
        ("word_sizes", 0, 9),
        ("word_sizes", 0, 0),
        ("lengths", 0, 2),
        ("lengths", 0, -1),
        ("lengths", 1, 2**62),
        ("children", 0, 9),
        ("children", 1, 0),
        ("last", 0, 99),
        ("pairs", 0, 1),
        ("pairs", 3, 0),
        ("labels", 0, 3),
        ("counts", 0, 0),
        ("documents", 0, -1),
    ],
)
def test_runs_of_words_out_of_form_are_refused(part, place, value):
    block = text_block(shortest=2, ngrams=3)
    seen = tally_of(block, ["cat dog cow", "cow cat"])
    arrays = {name: array.copy() for name, array in write_words(seen, block).items()}
    arrays[part][place] = value
    with pytest.raises(ModelFileRefused):
        read_words(Parts(arrays), block, 2)


# One model, one sequence of bytes.


@pytest.mark.parametrize("case", CASES)
@given(data=st.data())
def test_equal_models_give_equal_bytes(case, data):
    table = data.draw(tables(blocks_of(case)))
    more = data.draw(tables(blocks_of(case)))
    there_and_back = (table.summary() + more.summary()) - more.summary()
    shuffled = table.of(data.draw(st.permutations(table.rows)))
    expected = store.canonical_bytes(saved_of(table, provenance={"created": "today"}))
    assert store.canonical_bytes(saved_of(shuffled, provenance={"created": "tomorrow"})) == expected
    assert store.canonical_bytes(TrainedModel(Options(), schema_of(table.blocks), there_and_back)) == expected


def test_options_equal_in_python_give_equal_bytes():
    one = replace(small(), options=Options(smoothing=1, priors={"no": 0.5, "yes": 0.5}))
    other = replace(small(), options=Options(priors={"yes": np.float64(0.5), "no": 0.5}, smoothing=1.0))
    assert one == other
    assert store.canonical_bytes(one) == store.canonical_bytes(other)


def test_provenance_is_outside_equality():
    assert small() == replace(small(), provenance=store.provenance(["elsewhere.csv"], rows=7))
    assert small() != replace(small(), label="lived")
    assert small() != replace(small(), options=Options())
    assert small(2) != small(3)


def test_the_safetensors_package_reads_the_file(tmp_path):
    safetensors = pytest.importorskip("safetensors")
    store.save(small(), tmp_path / "model.candide")
    with safetensors.safe_open(tmp_path / "model.candide", framework="numpy") as file:
        assert file.metadata()["candide"] == "1"
        assert file.get_tensor("classes.counts").tolist() == [2, 2]


# Version 1 must load for ever. Made by: PYTHONPATH=src:tests python tests/test_store.py


def version_1():
    """Every statistic, every kind of key, a declared class without rows, a column left out."""
    kinds = {
        "mixed": families.named("categorical", smoothing=0.5, missing_is_value=True),
        "colour": families.named("categorical", smoothing=1.0),
        "alone": families.named("bernoulli", smoothing=1.0),
        "tea": families.named("multinomial", smoothing=1.0),
        "coffee": families.named("multinomial", smoothing=1.0),
        "height": families.named("gaussian", smoothing=0.0),
        "fare": families.named("lognormal", smoothing=0.0),
        "right": families.named("binomial", smoothing=1.0, trials=10),
        "east": families.named("gaussian_full", smoothing=1.0),
        "north": families.named("gaussian_full", smoothing=1.0),
        "id": None,
    }
    schema = Schema(tuple(Choice(name, family, f"golden {name}") for name, family in kinds.items()))
    mixed = ["a", 1, 2.5, True, b"raw", datetime.date(2024, 2, 29), None, 10**40, "\ud800", -7, float("inf"), "é"]
    cells = {
        "mixed": mixed,
        "colour": ["red", "green", None, "red"] * 3,
        "alone": [1, 0, None] * 4,
        "tea": [3, 0, 1, 2] * 3,
        "coffee": [0, 5, 1] * 4,
        "height": [1.7e9 + place / 8 for place in range(12)],
        "fare": [0.25 * 3**place for place in range(12)],
        "right": [place % 11 for place in range(12)],
        "east": [1e-300, 2.0, -3.5, 1e20] * 3,
        "north": [0.0, 1.0, 4.0] * 4,
    }
    batch = Batch.of(cells, ["no", "yes", "maybe"] * 4, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3])
    declared = Summary.empty(schema.blocks, [("text", "never")])
    options = {"priors": {"no": 0.5, "yes": 0.25, "maybe": 0.125, "never": 0.125}, "families": dict(kinds)}
    summary, origin = schema.summarize(batch) + declared, {"sources": ["test_store.py"]}
    saved = TrainedModel(Options(**options), schema, summary, "answer", provenance=origin)
    asked = ["a", 1, 2.5, True, None, "\ud800", "é", -7, "unseen"]
    return saved, {**{name: values[:9] for name, values in cells.items()}, "mixed": asked}


def test_a_version_1_file_loads_and_predicts_as_recorded():
    loaded, recorded = store.load(VERSION_1), json.loads(ANSWERS_1.read_text())
    assert recorded["classes"] == [value for _, value in loaded.summary.classes]
    assert loaded.label == "answer"
    assert loaded.provenance == {"sources": ["test_store.py"]}
    joint = Predictor.fit(loaded.summary, loaded.options.priors).joint(Batch.of(recorded["rows"]))
    assert np.array(recorded["joint"]) == pytest.approx(joint, rel=1e-9)


def test_what_a_version_1_file_holds_is_what_it_held():
    saved, _ = version_1()
    assert store.load(VERSION_1) == saved


# Whatever is wrong with a file, it is refused with a sentence.


def refused(data):
    """Whether bytes are refused as they should be; any other error is not caught."""
    try:
        store.from_bytes(data)
    except ModelFileRefused as problem:
        return str(problem).startswith("This cannot be used") and str(problem).endswith((".", "candide"))
    return False


def test_every_truncation_is_refused():
    data = store.to_bytes(small())
    assert all(refused(data[:size]) for size in range(len(data)))


def test_everything_appended_is_refused():
    data = store.to_bytes(small())
    assert all(refused(data + more) for more in (b"\0", b" ", bytes(8), data))


def test_every_changed_byte_is_refused():
    data = bytearray(store.to_bytes(small()))
    for place in range(len(data)):
        for flip in (0x01, 0x02, 0x10, 0x20, 0x80, 0xFF):
            data[place] ^= flip
            assert refused(data), (place, flip)
            data[place] ^= flip
    assert not refused(data)


@given(data=st.binary(max_size=300))
def test_garbage_is_refused(data):
    assert refused(data)
    assert refused(len(data).to_bytes(8, "little") + data)
    assert refused(len(data).to_bytes(8, "little") + container.MAGIC + data)


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"a,b\n1,2\n", b"\x80\x04\x95", b"\xff" * 4096])
def test_other_files_are_refused_by_name(tmp_path, content):
    path = tmp_path / "other.candide"
    path.write_bytes(content)
    with pytest.raises(ModelFileRefused, match=r"other\.candide"):
        store.load(path)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(ModelFileRefused, match="no file"):
        store.load(tmp_path / "absent.candide")
    with pytest.raises(ModelFileRefused, match="not a file"):
        store.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileRefused, match="not a file"):
        store.load(tmp_path / "pipe")


def parts_of(data):
    """The head as JSON, and the bytes after it."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size]), data[8 + size :]


def forged(head, body):
    """A file whose checksums are right, whatever it says."""
    checksums = {}
    for name, entry in head.items():
        if name != "__metadata__" and isinstance(entry, dict) and isinstance(entry.get("data_offsets"), list):
            place = entry["data_offsets"]
            real = len(place) == 2 and all(type(offset) is int for offset in place)
            checksums[name] = container.hashlib.sha256(body[slice(*place)]).hexdigest() if real else "0"
    metadata = {**head["__metadata__"], "checksum": container.NO_CHECKSUM, "checksums": container.to_json(checksums)}
    return container.head_with_checksum({**head, "__metadata__": metadata}) + body


def change(name, **entries):
    return lambda head: head[name].update(entries)


def test_forging_nothing_gives_a_good_file():
    data = store.to_bytes(small())
    assert forged(*parts_of(data)) == data


HUGE = 2**62
LIES = {
    "a huge shape": change("classes.counts", shape=[HUGE]),
    "a huge product of shapes": change("classes.counts", shape=[2**40, 2**40, 2**40]),
    "many axes": change("classes.counts", shape=[1] * 100),
    "a huge shape of nothing": change("classes.counts", shape=[HUGE, 0]),
    "a negative shape": change("classes.counts", shape=[-2]),
    "two negative shapes": change("classes.counts", shape=[-2, -1]),
    "a fraction as a shape": change("classes.counts", shape=[2.0]),
    "truth as a shape": change("classes.counts", shape=[2, True]),
    "a shape that is none": change("classes.counts", shape="ab"),
    "a shape of another length": change("classes.counts", shape=[1, 2]),
    "negative offsets": change("classes.counts", data_offsets=[-16, 0]),
    "offsets beyond the end": change("classes.counts", data_offsets=[10**9, 10**9 + 16]),
    "huge offsets": change("classes.counts", data_offsets=[0, 2**63]),
    "offsets in reverse": change("classes.counts", data_offsets=[16, 0]),
    "three offsets": change("classes.counts", data_offsets=[0, 8, 16]),
    "an unknown type": change("classes.counts", dtype="BF16"),
    "another type": change("classes.counts", dtype="F64"),
    "one thing more": change("classes.counts", more=1),
    "an array twice": lambda head: head.update({"copy": head["classes.counts"]}),
    "an array of nothing": lambda head: head.update({"copy": {"data_offsets": [0, 0], "dtype": "I64", "shape": [0]}}),
    "an array less": lambda head: head.pop("classes.counts"),
    "an array with another name": lambda head: head.update({"classes.weights": head.pop("classes.counts")}),
    "an array that is none": lambda head: head.update({"copy": 3}),
    "another text": change("__metadata__", note="hello"),
    "a text that is none": change("__metadata__", model="[]"),
    "a deep text": change("__metadata__", model="[" * 100_000),
    "a long number": change("__metadata__", model="9" * 100_000),
    "a text in disorder": change("__metadata__", model='{"b":1,"a":2}'),
    "a text with a name twice": change("__metadata__", provenance='{"a":1,"a":1}'),
    "a text with NaN": change("__metadata__", provenance='{"a":NaN}'),
    "no provenance": lambda head: head["__metadata__"].pop("provenance"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_head_that_lies_is_refused_without_huge_memory(lie):
    head, body = parts_of(store.to_bytes(small()))
    lie(head)
    tracemalloc.start()
    assert refused(forged(head, body))
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()


def test_overlapping_arrays_are_refused():
    head, body = parts_of(store.to_bytes(small()))
    names = sorted((name for name in head if name != "__metadata__"), key=lambda name: head[name]["data_offsets"])
    first, second = names[0], names[1]
    head[second]["data_offsets"] = head[first]["data_offsets"]
    head[second]["shape"] = head[first]["shape"]
    assert refused(forged(head, body))


def test_a_schema_far_larger_than_its_arrays_costs_no_more_than_itself():
    """Twenty thousand columns have two hundred million products: nothing may list them."""
    names = [f"x{place}" for place in range(20_000)]
    schema = {"columns": [[name, 0, 0] for name in names], "families": [{"name": "gaussian_full"}], "reasons": [""]}
    model = {"label": None, "options": {}, "schema": schema, "statistics": ["cross sums"]}
    pairs = len(names) * (len(names) + 1) // 2
    shapes = {"weight": (0, 0), "total": (len(names), 0, 0), "products": (pairs, 0, 0), "low": (3,)}
    classes = {"kinds": np.uint8, "ends": np.int64, "arena": np.uint8, "counts": np.int64, "declared": np.uint8}
    arrays = {f"classes.{name}": np.zeros(0, kind) for name, kind in classes.items()}
    arrays |= {f"block 0.{name}": np.zeros(shape, np.int64) for name, shape in shapes.items()}
    data = b"".join(container.container_pieces({"model": container.to_json(model), "provenance": "{}"}, arrays))
    tracemalloc.start()
    assert store.from_bytes(data).summary.rows == 0
    assert tracemalloc.get_traced_memory()[1] < pairs
    tracemalloc.stop()


@pytest.mark.parametrize("size", [0, 1, 2**31, 2**63 - 1, 2**64 - 1, container.LARGEST_HEAD + 1])
def test_an_absurd_length_of_the_head_is_refused(size):
    data = store.to_bytes(small())
    assert refused(size.to_bytes(8, "little") + data[8:])


def test_a_name_twice_in_the_head_is_refused():
    data = store.to_bytes(small())
    head, body = parts_of(data)
    text = container.to_json({**head, "__metadata__": {**head["__metadata__"], "checksum": container.NO_CHECKSUM}})
    entry = json.dumps(head["classes.counts"], separators=(",", ":"), sort_keys=True)
    text = text[:-1] + f',"classes.counts":{entry}}}'
    text += " " * (-len(text) % 8)
    raw = len(text).to_bytes(8, "little") + text.encode()
    checksum = container.hashlib.sha256(raw).hexdigest()
    assert refused(raw.replace(container.NO_CHECKSUM.encode(), checksum.encode(), 1) + body)


def test_a_newer_version_says_upgrade():
    data = store.to_bytes(small()).replace(b'"candide":"1"', b'"candide":"3"', 1)
    with pytest.raises(ModelFileRefused, match="pip install --upgrade candide"):
        store.from_bytes(data)
    assert refused(data.replace(b'"candide":"2"', b'"candide":"0"', 1))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"name":"bernoulli"', '"name":"os"', "no family"),
        ('"name":"bernoulli"', '"name":"multinomial"', "numbers belong"),
        ('"name":"bernoulli"', '"name":"../x"', "no family"),
        ('"smoothing":1', '"smoothing":"one"', "smoothing"),
        ('"smoothing":1', '"smoothing":-1', "smoothing"),
        ('"smoothing":1', '"smoothing":[]', "smoothing"),
        ('"smoothing":1', '"smoothing":{"$float":"nan"}', "smoothing"),
        ('"smoothing":1', '"smoothing":{"$odd":"nan"}', "no sense"),
        ('"smoothing":1', '"smoothing":1,"zeal":1', "zeal"),
        ('["alone"', '["class"', "twice"),
        ('["alone",1', '["alone",-1', "schema"),
        ('["alone",1', '["alone",99', "no sense"),
        ('["tally"', '["sums"', "needs"),
        ('"label":"survived"', '"label":7', "head"),
        ('"options":{', '"options":[],"zeal":{', "head"),
        ('"priors":"uniform"', '"priors":{"$family":{"name":"os"}}', "no family"),
        ('"priors":"uniform"', '"zeal":"uniform"', "zeal"),
    ],
)
def test_a_model_that_lies_is_refused(old, new, words):
    head, body = parts_of(store.to_bytes(small()))
    text = head["__metadata__"]["model"]
    assert old in text
    head["__metadata__"]["model"] = container.to_json(json.loads(text.replace(old, new, 1)))
    with pytest.raises(ModelFileRefused, match=words):
        store.from_bytes(forged(head, body))


def edited(name, place, value):
    """A small file with one number of an array changed, and checksums that agree."""
    texts, arrays = container.contents(store.to_bytes(small()))
    arrays[name] = arrays[name].copy()
    arrays[name].reshape(-1)[place] = value
    return b"".join(container.container_pieces(texts, arrays))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("classes.counts", 0, -1),
        ("classes.counts", 0, 0),
        ("classes.counts", 0, 2**62 + 1),
        ("classes.declared", 0, 2),
        ("classes.kinds", 0, 99),
        ("classes.kinds", 0, 3),
        ("classes.kinds", 0, 6),
        ("classes.ends", 0, 99),
        ("classes.ends", 0, -1),
        ("classes.arena", 0, 0xFF),
        ("classes.arena", 0, ord("z")),
        ("block 0.counts", 0, -5),
        ("block 0.columns", 0, 1),
        ("block 0.columns", 0, -1),
        ("block 1.counts", 0, -5),
        ("block 2.weight", 0, -1),
        ("block 2.square", 0, 2**32),
        ("block 2.low", 0, 10**9),
        ("block 2.low", 0, -(10**9)),
        ("block 3.weight", 0, -1),
        ("block 3.weight", 0, 2**40),
    ],
)
def test_arrays_that_lie_are_refused(name, place, value):
    assert refused(edited(name, place, value))


def test_a_value_that_no_row_had_is_refused():
    texts, arrays = container.contents(store.to_bytes(small()))
    arrays["block 0.counts"] = np.zeros_like(arrays["block 0.counts"])
    assert refused(b"".join(container.container_pieces(texts, arrays)))


def leaves(value, path=()):
    """The way to everything inside a JSON value."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from leaves(item, (*path, key))


PLAIN_JUNK = (None, True, -1, 0, 1, 2**63, 0.5, "", "x", "\0", "$")
JUNK = (*PLAIN_JUNK, [], [[]], [0, 8], {}, {"$family": {}}, {"$map": [[[], 1]]}, {"$text": {"hashed": 28}})


def test_nothing_written_in_the_head_makes_the_loader_stumble():
    """Every value of the head and of its texts, replaced by junk with checksums that agree: loaded or refused."""
    clean, body = parts_of(store.to_bytes(small()))
    for text in (None, "model", "provenance"):
        source = clean if text is None else json.loads(clean["__metadata__"][text])
        for path in leaves(source):
            if not path or path[0] == "__metadata__":
                continue
            for junk in JUNK:
                changed = json.loads(json.dumps(source))
                inside = changed
                for step in path[:-1]:
                    inside = inside[step]
                inside[path[-1]] = junk
                head = changed if text is None else json.loads(json.dumps(clean))
                if text is not None:
                    head["__metadata__"][text] = container.to_json(changed)
                refused(forged(head, body))


def test_nothing_written_in_the_arrays_makes_the_loader_stumble():
    """What is loaded in spite of a changed number is in canonical form: it gives back the same bytes."""
    _, arrays = container.contents(store.to_bytes(small()))
    for name, array in arrays.items():
        for place in range(min(array.size, 6)):
            for value in (0, 1, 2, 255) if array.dtype == np.uint8 else (-1, 0, 1, 2**31, 2**33, 2**62, -(2**63)):
                data = edited(name, place, value)
                if not refused(data):
                    assert store.to_bytes(store.from_bytes(data)) == data


def test_arrays_are_read_only(tmp_path):
    store.save(small(), tmp_path / "model.candide")
    summary = store.load(tmp_path / "model.candide").summary
    tally, _, sums, _ = summary.statistics
    assert not any(array.flags.writeable for array in (summary.counts, tally.counts, sums.total.digits))


def test_loading_maps_the_file_instead_of_reading_it(tmp_path):
    path = tmp_path / "large.candide"
    store.save(large(columns=1000, classes=4000), path)
    tracemalloc.start()
    loaded = store.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 32e6
    assert peak < path.stat().st_size / 5
    assert loaded.summary.statistics[0].counts.sum() > 0


# Whatever happens while saving, the old file or the new one is there.


def test_a_reader_keeps_the_file_it_opened(tmp_path):
    path = tmp_path / "model.candide"
    store.save(large(1), path)
    before = store.load(path)
    store.save(large(2), path)
    assert before == large(1)
    assert store.load(path) == large(2)


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    (tmp_path / "real.candide").write_bytes(b"")
    os.chmod(tmp_path / "real.candide", 0o640)
    os.symlink("real.candide", tmp_path / "link.candide")
    store.save(small(), tmp_path / "link.candide")
    assert (tmp_path / "link.candide").is_symlink()
    assert (tmp_path / "real.candide").stat().st_mode & 0o777 == 0o640
    assert store.load(tmp_path / "real.candide") == small()


@pytest.mark.parametrize("broken", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "no space"), OSError(errno.EIO, "odd"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, broken, problem):
    path = tmp_path / "model.candide"
    store.save(small(), path)

    def fail(*_, **__):
        raise problem

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises((ModelFileNotWritten, KeyboardInterrupt)):
        store.save(large(), path)
    assert list(tmp_path.iterdir()) == [path]
    assert store.load(path) == small()


def test_a_full_disk_gives_a_sentence(tmp_path):
    resource = pytest.importorskip("resource", reason="needs limits on the size of files")
    path = tmp_path / "model.candide"
    store.save(small(), path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(ModelFileNotWritten, match="larger than a file may be"):
            store.save(large(), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [path]
    assert store.load(path) == small()


def test_a_folder_that_may_not_be_written_gives_a_sentence(tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir()
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        folder = Path("/sys")
    if not folder.exists():
        pytest.skip("may write everywhere here")
    with pytest.raises(ModelFileNotWritten, match=r"could not be saved: its (folder|disk)"):
        store.save(small(), folder / "model.candide")
    with pytest.raises(ModelFileNotWritten), store.locked(folder / "model.candide"):
        pass


def test_a_folder_that_is_not_there_gives_a_sentence(tmp_path):
    with pytest.raises(ModelFileNotWritten, match="does not exist"):
        store.save(small(), tmp_path / "absent" / "model.candide")
    with pytest.raises(ModelFileNotWritten, match="not a file"):
        store.save(small(), tmp_path)


def forked(work):
    """Run something in a process of its own; give its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def save_killed_at_step(model, path, last):
    """Save, and be killed when so many files were opened, locked, renamed or removed; how many it took, if fewer."""
    told, tell = os.pipe()

    def save():
        steps = []

        def step(*event):
            steps.append(event)
            if len(steps) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(step)
        store.save(model, path)
        os.write(tell, str(len(steps)).encode())

    child = forked(save)
    os.close(tell)
    os.waitpid(child, 0)
    with open(told) as steps:
        return int(steps.read() or 0)


def save_killed_at_byte(model, path, last):
    """Save, and be killed by the system when so many bytes of a file were written."""
    resource = pytest.importorskip("resource", reason="needs limits on the size of files")

    def save():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (last, last))
        store.save(model, path)

    _, status = os.waitpid(forked(save), 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGXFSZ


@forks
def test_a_writer_killed_at_any_step_leaves_a_whole_file(tmp_path):
    path = tmp_path / "model.candide"
    models = [large(seed) for seed in range(2)]
    store.save(models[0], path)
    seen, last, ended = [], 0, 0
    while not ended:
        last += 1
        ended = save_killed_at_step(models[1], path, last)
        seen.append(models.index(store.load(path)))
    assert seen == sorted(seen)
    assert set(seen) == {0, 1}


@forks
def test_a_writer_killed_at_any_byte_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.candide"
    store.save(small(), path)
    size = len(store.to_bytes(large()))
    for last in {0, 1, size - 1, *random.Random(5).sample(range(size), 10)}:
        save_killed_at_byte(large(), path, last)
        assert store.load(path) == small()


@forks
def test_two_writers_wait_for_each_other(tmp_path):
    path = tmp_path / "model.candide"
    store.save(small(1), path)
    more = small(1).summary

    def learn():
        for _ in range(25):
            with store.locked(path):
                saved = store.load(path)
                store.save(replace(saved, summary=saved.summary + more), path)

    children = [forked(learn) for _ in range(3)]
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    assert store.load(path) == small(76)
    assert list(tmp_path.iterdir()) == [path]


def test_a_second_writer_waits(tmp_path):
    fcntl = pytest.importorskip("fcntl", reason="asks for the lock as Unix does")
    path = tmp_path / "model.candide"
    order, about_to = [], threading.Event()

    def second():
        about_to.set()
        with store.locked(path):
            order.append("second")

    thread = threading.Thread(target=second)
    with store.locked(path):
        thread.start()
        about_to.wait()
        with open(tmp_path / ".model.candide.lock") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


@forks
def test_a_lock_ends_with_its_holder(tmp_path):
    path = tmp_path / "model.candide"
    ready, tell = os.pipe()

    def hold():
        with store.locked(path):
            os.write(tell, b"!")
            signal.pause()

    child = forked(hold)
    os.read(ready, 1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with store.locked(path):
        pass
    assert list(tmp_path.iterdir()) == []


if __name__ == "__main__":
    if VERSION_1.exists():
        sys.exit("Version 1 is written in stone: a new format gets a new file.")
    saved, rows = version_1()
    store.save(saved, VERSION_1)
    model = Predictor.fit(saved.summary, saved.options.priors)
    joint = model.joint(Batch.of(rows)).tolist()
    answers = {"classes": [value for _, value in model.classes], "rows": rows, "joint": joint}
    ANSWERS_1.write_text(json.dumps(answers, indent=1) + "\n")
