"""A ledger tells of every row whether it was learned: what sums cannot show, a hash of each row can."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from candide import NaiveBayes, families, load, store
from candide.api import verbs
from candide.cli.app import app
from candide.data.batch import Batch
from candide.data.errors import ForgetRefused, OptionRefused, SummariesDisagree
from candide.families.base.family import Block
from candide.statistics.ledger import HASH, Ledger
from candide.store.refusals import ModelFileRefused
from candide.training.row_hashes import identities
from strategies import CASES, MIXTURE, ORDINARY, PLAIN, taken

Rows = dict[str, list[Any]]
TRAP = {"x": [10.0, 10.1, 9.9, 1.0, 2.0, 3.0]}
TRAP_LABELS = ["a", "a", "a", "b", "b", "b"]


def columns_of(case: str) -> dict[str, str]:
    names = families.names() if case == MIXTURE else [case, case]
    return {f"column {index}": name for index, name in enumerate(names)}


def rows_of(case: str, count: int, seed: int) -> Rows:
    rng = random.Random(seed)
    pools = {name: taken(families.named(family), ORDINARY) for name, family in columns_of(case).items()}
    cells = {name: [rng.choice([*pool, None]) for _ in range(count)] for name, pool in pools.items()}
    return {**cells, "label": [rng.choice(["apple", "pear", "quince"]) for _ in range(count)]}


def some(rows: Rows, indices: Any) -> Rows:
    return {name: [values[index] for index in indices] for name, values in rows.items()}


def noted(case: str, rows: Rows) -> NaiveBayes:
    return NaiveBayes(columns_of(case), smoothing="default", calibrate=False, ledger=True).fit(rows, "label")


def strange_to(case: str, rows: Rows) -> Rows:
    """Rows made of learned values in combinations that were never learned."""
    names = [name for name in rows if name != "label"]
    numbers = {name for name in names if families.named(columns_of(case)[name]).zero_is_missing}

    def plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
        cells = zip([*names, "label"], row, strict=True)
        return tuple(None if value is None or (name in numbers and value == 0) else value for name, value in cells)

    learned = {plain(row) for row in zip(*(rows[name] for name in names), rows["label"], strict=True)}
    drawn = [tuple(random.Random(f"{seed}{name}").choice(rows[name]) for name in rows) for seed in range(400)]
    fresh = [row for row in drawn if plain((*row[:-1], row[-1])) not in learned]
    return {name: [row[index] for row in fresh[:40]] for index, name in enumerate(rows)}


@pytest.mark.parametrize("case", CASES)
def test_every_learned_row_is_known_and_no_other(case: str) -> None:
    rows = rows_of(case, 30, seed=1)
    model = noted(case, rows)
    assert model.knows(rows, "label").all()
    strange = strange_to(case, rows)
    assert strange["label"]
    assert not model.knows(strange, "label").any()


@pytest.mark.parametrize("case", CASES)
def test_every_row_that_was_never_learned_is_refused_and_named(case: str) -> None:
    rows = rows_of(case, 30, seed=2)
    model = noted(case, rows)
    before = store.canonical_bytes(model.trained_)
    strange = strange_to(case, rows)
    for index in range(min(5, len(strange["label"]))):
        one = some(strange, [index])
        mixed = {name: rows[name][:3] + one[name] for name in rows}
        with pytest.raises(ForgetRefused, match="Row 4, with label"):
            model.forget(mixed, "label")
        with pytest.raises(ForgetRefused):
            NaiveBayes.of(model.trained_).forget_one({n: v[0] for n, v in one.items() if n != "label"}, one["label"][0])
    assert store.canonical_bytes(model.trained_) == before


@pytest.mark.parametrize("case", CASES)
def test_ledgers_add_up_however_rows_come(case: str, tmp_path: Path) -> None:
    rows = rows_of(case, 30, seed=3)
    left, right = some(rows, range(12)), some(rows, range(12, 30))
    whole = noted(case, rows).trained_.ledger
    assert whole is not None
    assert whole.total == 30
    first = NaiveBayes(columns_of(case), smoothing="default", calibrate=False, ledger=True).fit(left, "label")
    second = NaiveBayes(ledger=True).fit(right, "label", like=first)
    stream = NaiveBayes.of(first.trained_)
    for index in range(18):
        stream.learn_one({name: right[name][index] for name in right if name != "label"}, right["label"][index])
    batch = NaiveBayes.of(first.trained_).partial_fit(some(right, range(17, -1, -1)), "label")
    merged = first + second
    for model in (stream, batch, merged):
        assert model.trained_.ledger == whole
        assert model.forget(right, "label").trained_.ledger == first.trained_.ledger
        assert not (model.knows(right, "label") & ~first.knows(right, "label")).any()
    merged.save(tmp_path / "model.candide")
    assert load(tmp_path / "model.candide").trained_ == merged.trained_


def test_the_rows_that_sums_cannot_tell_apart() -> None:
    """Two rows with the same sums as two others: only the ledger refuses them."""
    rows, labels = {"x": [1.0, 4.0, 4.0, 1.0, 1.0, 4.0, 7.0, 2.5]}, ["a", "a", "a", "a", "b", "b", "a", "b"]
    never = {"x": [7.0, 1.0, 1.0]}, ["a", "a", "a"]
    NaiveBayes("gaussian", **without_choices()).fit(rows, labels).forget({"x": [3.0]}, ["a"])
    model = NaiveBayes("gaussian", **without_choices(), ledger=True).fit(rows, labels)
    with pytest.raises(ForgetRefused, match="Row 1"):
        model.forget({"x": [3.0]}, ["a"])
    model.forget(*never)


def without_choices() -> dict[str, Any]:
    return {"smoothing": "default", "calibrate": False}


def test_a_row_is_known_as_often_as_it_was_learned() -> None:
    rows, labels = {"x": [1.0, 2.0]}, ["a", "b"]
    model = NaiveBayes(**PLAIN, ledger=True).fit(rows, labels, sample_weight=[3, 1])
    assert model.trained_.ledger.total == 4
    with pytest.raises(ForgetRefused, match="not as often"):
        model.forget({"x": [1.0]}, ["a"], sample_weight=[4])
    with pytest.raises(ForgetRefused, match="Row 4"):
        model.forget({"x": [1.0] * 4}, ["a"] * 4)
    model.forget({"x": [1.0]}, ["a"], sample_weight=[2])
    assert model.knows(rows, labels).all()
    model.forget_one({"x": 1}, "a")
    assert model.knows(rows, labels).tolist() == [False, True]


def test_equal_rows_have_equal_hashes_in_any_dress() -> None:
    blocks = [Block(families.named(name), (name,)) for name in ("gaussian", "categorical", "bernoulli")]
    text = families.named("text").reading("text")
    blocks.append(Block(text, ("text",)))
    plain: Rows = {"gaussian": [1, None, -0.0], "categorical": [2, "a", None], "bernoulli": [True, False, None]}
    plain["text"] = ["Hello, world", None, ""]
    frame = pd.DataFrame(plain)[["text", "bernoulli", "categorical", "gaussian"]]
    frame["bernoulli"] = [1.0, 0.0, np.nan]
    frame["categorical"] = pd.Series([2.0, "a", None], dtype=object)
    labels = [1, 1, 2]
    expected = identities(blocks, Batch.of(plain, labels))
    assert len(set(expected.tolist())) == 3
    again = identities(blocks, Batch.of(frame, np.array([1.0, 1.0, 2.0])))
    assert (again == expected).all()
    one_by_one = [identities(blocks, Batch.of({k: [v[i]] for k, v in plain.items()}, [labels[i]])) for i in range(3)]
    assert (np.concatenate(one_by_one) == expected).all()
    absent = Batch.of({"categorical": ["a"], "bernoulli": [False]}, [1]).with_missing([b.columns[0] for b in blocks])
    assert identities(blocks, absent)[0] == expected[1]
    assert identities(blocks, Batch.of({**plain, "text": ["Hello world", None, ""]}, labels))[0] != expected[0]


def test_columns_and_values_cannot_be_taken_for_each_other() -> None:
    pair = (Block(families.named("categorical"), ("a", "ab")),)
    tricky = {"a": ["b", "", None, "x"], "ab": ["", "b", "bb", "x"]}
    assert len(set(identities(pair, Batch.of(tricky, ["l"] * 4)).tolist())) == 4


def test_sparse_counts_are_the_rows_that_dense_ones_are() -> None:
    counts = np.array([[0, 2, 0], [1, 0, 5], [0, 0, 0]])
    blocks = (Block(families.named("multinomial"), ("x0", "x1", "x2")),)
    dense = identities(blocks, Batch.of(counts, ["a", "b", "a"]))
    assert (identities(blocks, Batch.of(sp.csr_array(counts), ["a", "b", "a"])) == dense).all()
    gaps = np.where(counts == 0, np.nan, counts)
    assert (identities(blocks, Batch.of(gaps, ["a", "b", "a"])) == dense).all()


def test_a_column_that_comes_later_does_not_change_the_rows_before() -> None:
    model = NaiveBayes(**PLAIN, ledger=True).fit({"x": [1.5, 2.5]}, ["a", "b"])
    model.partial_fit({"x": [3.5], "y": ["new"]}, ["a"])
    assert model.knows({"x": [1.5], "y": [None]}, ["a"]).all()
    assert not model.knows({"x": [1.5], "y": ["new"]}, ["a"]).any()
    model.forget({"x": [3.5], "y": ["new"]}, ["a"])
    assert not model.knows({"x": [3.5], "y": ["new"]}, ["a"]).any()
    assert model.schema_.columns == ("x",)


def test_what_cannot_be_is_refused() -> None:
    plain = NaiveBayes(**PLAIN).fit(TRAP, TRAP_LABELS)
    with pytest.raises(OptionRefused, match="ledger=True"):
        plain.knows(TRAP, TRAP_LABELS)
    keeping = NaiveBayes(**PLAIN, ledger=True).fit(TRAP, TRAP_LABELS, like=plain)
    with pytest.warns(UserWarning, match="ledger"), pytest.raises(SummariesDisagree, match="ledger"):
        _ = plain + keeping
    with pytest.raises(SummariesDisagree, match="ledger"):
        plain.set_params(ledger=True).partial_fit(TRAP, TRAP_LABELS)
    with pytest.raises(OptionRefused, match="half_life"):
        NaiveBayes(half_life=10, ledger=True).learn_one({"x": 1.0}, "a")


def test_the_row_that_destroyed_a_model() -> None:
    model = NaiveBayes("gaussian", **without_choices(), ledger=True).fit(TRAP, TRAP_LABELS)
    with pytest.raises(ForgetRefused, match="Row 1, with label 'a'"):
        model.forget({"x": [0.0]}, ["a"])
    assert (model.predict(TRAP) == TRAP_LABELS).all()


def test_a_forged_ledger_is_refused() -> None:
    saved = NaiveBayes(**PLAIN, ledger=True).fit(TRAP, TRAP_LABELS).trained_
    good = saved.ledger
    assert good is not None
    assert store.from_bytes(store.to_bytes(saved)) == saved
    forged = {
        "lists": Ledger(good.hashes[1:], good.counts[1:]),
        "canonical": Ledger(good.hashes[::-1].copy(), good.counts.copy()),
        "in canonical": Ledger(good.hashes.copy(), np.array([2, 0, 1, 1, 1, 1])),
    }
    for reason, ledger in forged.items():
        with pytest.raises(ModelFileRefused, match=reason):
            store.from_bytes(store.to_bytes(replace(saved, ledger=ledger)))
    with pytest.raises(ModelFileRefused, match="ledger"):
        store.from_bytes(store.to_bytes(replace(saved, ledger=None)))
    with pytest.raises(ModelFileRefused, match="ledger"):
        store.from_bytes(store.to_bytes(replace(saved, options=replace(saved.options, ledger=False))))


def test_a_file_without_a_ledger_is_as_it_was() -> None:
    saved = NaiveBayes(**PLAIN).fit(TRAP, TRAP_LABELS).trained_
    assert b"ledger.hashes" not in store.to_bytes(saved)
    assert saved.ledger is None


def test_hashes_may_end_in_zeros() -> None:
    hashes = np.frombuffer(bytes(15) + b"\1" + bytes(16) + b"\1" + bytes(15), HASH)
    ledger = Ledger.of(hashes)
    assert len(ledger) == 3
    assert ledger.times(hashes).tolist() == [1, 1, 1]
    assert (ledger - Ledger.of(hashes[1:2])).times(hashes).tolist() == [1, 0, 1]


def test_the_shell_keeps_a_ledger(tmp_path: Path) -> None:
    run, model = CliRunner().invoke, str(tmp_path / "model.candide")
    lines = [f"{n},{'ab'[n % 2]},{'xy'[n % 2]}\n" for n in range(8)]
    (tmp_path / "rows.csv").write_text("size,kind,label\n" + "".join(lines))
    (tmp_path / "some.csv").write_text("label,kind,size\nx,a,2.0\ny,b,9\n")
    (tmp_path / "one.csv").write_text("label,kind,size\nx,a,2.0\n")
    rows, few, one = (str(tmp_path / name) for name in ("rows.csv", "some.csv", "one.csv"))
    assert run(app, ["fit", rows, "--label", "label", "--ledger", "-o", model]).exit_code == 0
    assert run(app, ["inspect", model, "--knows", few]).output == "1 of 2 rows are in the model; not in it: row 2\n"
    with pytest.raises(ForgetRefused, match="Row 2, with label 'y'"):
        verbs.forget(model, few)
    assert run(app, ["forget", model, one]).exit_code == 0
    assert "0 of 1 rows" in run(app, ["inspect", model, "--knows", one]).output
    assert verbs.inspect(model, knows=rows)["knows"] == {"rows": 8, "known": 7, "unknown": [3]}
    other = str(tmp_path / "other.candide")
    assert run(app, ["fit", one, "--like", model, "-o", other]).exit_code == 0
    merged = verbs.merge([model, other])
    assert verbs.inspect(merged, knows=rows)["knows"]["known"] == 8


# Weights that are not whole.


@pytest.mark.parametrize("case", CASES)
def test_a_row_is_noted_with_its_weight(case: str) -> None:
    rows, weights = rows_of(case, 12, seed=8), np.random.default_rng(8).random(12)
    weights[:2] = 0.5, 2.0
    model = NaiveBayes(columns_of(case), smoothing="default", calibrate=False, ledger=True)
    model.fit(rows, "label", sample_weight=weights)
    before = model.trained_.ledger
    assert before is not None
    assert before.total == pytest.approx(weights.sum())
    assert model.knows(rows, "label").all()
    with pytest.raises(ForgetRefused, match="Row 1, with label"):
        model.forget(some(rows, [0]), "label", sample_weight=[weights.sum() + 1])
    assert model.trained_.ledger == before
    last = range(6, 12)
    half = NaiveBayes.of(model.trained_).forget(some(rows, last), "label", sample_weight=weights[6:])
    again = half.partial_fit(some(rows, last), "label", sample_weight=weights[6:])
    assert again.trained_.ledger == before
    assert store.from_bytes(store.to_bytes(model.trained_)).ledger == before
    model.forget(rows, "label", sample_weight=weights)
    assert model.trained_.ledger == Ledger.empty()


def test_a_row_is_forgotten_piece_by_piece() -> None:
    model = NaiveBayes(**PLAIN, ledger=True).fit(TRAP, TRAP_LABELS, [0.75, 1, 1, 1, 1, 1])
    first = {"x": [10.0]}
    model.forget(first, ["a"], sample_weight=[0.5])
    assert model.knows(first, ["a"]).all()
    with pytest.raises(ForgetRefused, match="Row 1"):
        model.forget(first, ["a"], sample_weight=[0.5])
    with pytest.raises(ForgetRefused, match=r"weight of 0\.25"):
        model.forget_one({"x": 10.0}, "a")
    model.learn_one({"x": 10.0}, "a")
    model.forget_one({"x": 10.0}, "a")
    model.forget(first, ["a"], sample_weight=[0.25])
    assert not model.knows(first, ["a"]).any()
    assert model.trained_.ledger == NaiveBayes(**PLAIN, ledger=True).fit(
        {"x": TRAP["x"][1:]}, TRAP_LABELS[1:]
    ).trained_.ledger


@given(weights=st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=8), cut=st.integers(0, 8))
def test_ledgers_of_fractions_add_up(weights: list[float], cut: int) -> None:
    hashes = np.array([b"row %d" % (index % 3) for index in range(len(weights))], HASH)
    units = np.array([round(weight * 2**32) for weight in weights])
    whole = Ledger.of(hashes, units, 32)
    left, right = Ledger.of(hashes[:cut], units[:cut], 32), Ledger.of(hashes[cut:], units[cut:], 32)
    assert left + right == whole == right + left
    assert whole - right == left
    whole_times = np.arange(1, len(hashes) + 1)
    half = Ledger.of(hashes, whole_times << 31, 32)
    assert half + half == Ledger.of(hashes, whole_times)
    assert (whole + half) - whole == half


def test_a_forged_ledger_of_fractions_is_refused() -> None:
    model = NaiveBayes(**PLAIN, ledger=True).fit(TRAP, TRAP_LABELS, [0.5, 1, 1, 1, 1, 1])
    saved = model.trained_
    good = saved.ledger
    assert good is not None
    assert good.bits == 32
    more, whole = good.units.copy(), good.units.copy() >> 32
    more[0] += 1
    for ledger in (Ledger(good.hashes, more, 32), Ledger(good.hashes, whole, 0), Ledger(good.hashes, good.units, 31)):
        with pytest.raises(ModelFileRefused):
            store.from_bytes(store.to_bytes(replace(saved, ledger=ledger)))
