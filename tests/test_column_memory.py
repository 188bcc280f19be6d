"""What is remembered of open columns adds up, subtracts and is read off: to the bit what families remember."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from candide import families, store
from candide.data.batch import Batch
from candide.data.errors import CandideError, ColumnRefused, ForgetRefused
from candide.families.base.alike_rows import AlikeRows
from candide.families.base.family import Block
from candide.families.base.undecided import Undecided
from candide.families.histogram import Histogram
from candide.model.options import Options
from candide.model.schema import Choice, Schema
from candide.model.summary import Accumulator, Summary
from candide.model.trained_model import TrainedModel
from candide.statistics.column_memory import ColumnMemory
from strategies import blocks_of, tables

OPEN = (Block(Undecided(), ("x0", "x1")),)
READ_OFF = [name for name in families.names() if families.class_named(name).is_read_off]
DENSITIES = [name for name in READ_OFF if families.class_named(name).statistic.__name__ == "Sums"]
open_tables = tables(OPEN)


def coarser(summary: Summary, most: int) -> Summary:
    """The same rows with fewer cells a column."""
    (seen,) = summary.statistics
    return replace(summary, statistics=(replace(seen, cells=tuple(c.with_at_most(most) for c in seen.cells)),))


@given(table=open_tables, cut=st.integers(0, 8))
def test_parts_add_up_to_the_whole_in_any_order(table, cut):
    left, right = table.of(table.rows[:cut]).summary(), table.of(table.rows[cut:]).summary()
    assert left + right == table.summary() == right + left
    assert left + Summary.empty(OPEN) == left
    assert table.of(table.rows[::-1]).summary() == table.summary()


@given(table=open_tables, more=open_tables)
def test_what_was_added_can_be_taken_away(table, more):
    mine, theirs = table.summary(), more.summary()
    assert mine + theirs - theirs == mine
    assert not (mine + theirs).impossible()
    accumulator = Accumulator.over(mine)
    accumulator.learn(more.batch())
    accumulator.forget(more.batch())
    assert accumulator.freeze() == mine


@given(table=open_tables)
def test_a_weight_is_so_many_rows(table):
    repeated = [replace(row, weight=1) for row in table.rows for _ in range(row.weight)]
    assert table.of(repeated).summary() == table.summary()


@given(table=open_tables, more=open_tables, most=st.tuples(st.integers(1, 4), st.integers(1, 4)))
def test_summaries_of_different_levels_add_at_the_coarser(table, more, most):
    mine, theirs = coarser(table.summary(), most[0]), coarser(more.summary(), most[1])
    both, whole = mine + theirs, table.summary() + more.summary()
    for left, right, found, fine in zip(
        *(summary.statistics[0].cells for summary in (mine, theirs, both, whole)), strict=True
    ):
        assert found == fine.at_level(min(left.level, right.level))
    assert both.statistics[0].numbers == whole.statistics[0].numbers
    assert both - theirs == coarser_alike(mine, both)


def coarser_alike(summary: Summary, other: Summary) -> Summary:
    """The first with cells as coarse as the other's."""
    (seen,), (like,) = summary.statistics, other.statistics
    cells = tuple(mine.at_level(theirs.level) for mine, theirs in zip(seen.cells, like.cells, strict=True))
    return replace(summary, statistics=(replace(seen, cells=cells),))


def has_no_truths(table):
    """Truths are remembered as what they are; families of numbers given by hand take them for 0 and 1."""
    return not any(isinstance(cell, bool) for row in table.rows for cell in row.cells)


def suited(name, table):
    """The family with bins where it needs some."""
    family = families.named(name)
    if isinstance(family, Histogram):
        return family.fitted_to(table.batch().numbers(["x0"])[:, 0], "x0")
    return family


@pytest.mark.parametrize("name", READ_OFF)
@given(data=st.data())
def test_what_a_family_remembers_is_read_off_to_the_bit(name, data):
    table = data.draw(tables(blocks_of(name)))
    assume(has_no_truths(table))
    columns = table.columns
    family = suited(name, table)
    batch = table.batch()
    seen = Summary.of((Block(Undecided(), columns),), batch).statistics[0]
    own = Summary.of((Block(family, columns),), batch).statistics[0]
    if name == "calendar":  # plain numbers are no times: only columns of times count the parts of the calendar
        assume(not own.slots)
    assert family.read_off(seen, columns, columns) == own


@pytest.mark.parametrize("name", DENSITIES)
@given(data=st.data(), most=st.integers(1, 3))
def test_sums_are_read_off_whatever_the_level_of_cells(name, data, most):
    table = data.draw(tables(blocks_of(name)))
    assume(has_no_truths(table))
    family, columns, batch = families.named(name), table.columns, table.batch()
    seen = Summary.of((Block(Undecided(), columns),), batch).statistics[0]
    coarse = replace(seen, cells=tuple(cells.with_at_most(most) for cells in seen.cells))
    own = Summary.of((Block(family, columns),), batch).statistics[0]
    assert family.read_off(coarse, columns, columns) == own


def test_times_count_the_parts_of_the_calendar():
    times = np.array(["2024-01-01T10:00", "2024-01-02T10:00", "2024-07-02T22:30"], dtype="datetime64[s]")
    batch = Batch.of({"when": times}, ["a", "b", "a"])
    seen = Summary.of((Block(Undecided(), ("when",)),), batch).statistics[0]
    for part in ("weekday", "hour", "month"):
        family = families.named("calendar", part=part)
        own = Summary.of((Block(family, ("when",)),), batch).statistics[0]
        assert family.read_off(seen, ("when",), ("when",)) == own


def test_whatever_comes_is_learned_side_by_side():
    values = {"x": [3, 2.5, "big", True, None, b"raw", -0.0]}
    batch = Batch.of(values, list("ababaab"))
    (seen,) = Summary.of((Block(Undecided(), ("x",)),), batch).statistics
    assert seen.cells[0].lowest.tolist() == [0.0, 2.5, 3.0]
    assert [slot[1:] for slot in seen.others.slots] == [("bytes", b"raw"), ("text", "big"), ("truth", True)]
    rows = AlikeRows.of(seen, "x", 0)
    assert len(rows.labels) == 6


def test_infinite_numbers_are_refused_before_anything_is_learned():
    accumulator = Accumulator(OPEN)
    with pytest.raises(ColumnRefused, match="an infinite number"):
        accumulator.learn(Batch.of({"x0": [1.0, np.inf], "x1": ["a", "b"]}, ["yes", "no"]))
    assert accumulator.freeze() == Summary.empty(OPEN)


def test_a_number_that_was_never_learned_is_not_forgotten():
    """Sums alone would let a row near their middle pass; cells know every number."""
    seen = Summary.of(OPEN, Batch.of({"x0": [1.0, 2.0, 3.0], "x1": ["a", "b", "a"]}, ["yes"] * 3))
    with pytest.raises(ForgetRefused):
        seen - Summary.of(OPEN, Batch.of({"x0": [2.5], "x1": ["a"]}, ["yes"]))


def saved(summary: Summary) -> TrainedModel:
    choices = [Choice(name, None, "left open", remembered=OPEN[0].family) for name in OPEN[0].columns]
    return TrainedModel(Options(), Schema(tuple(choices)), summary)


@given(table=open_tables, most=st.integers(1, 9))
def test_a_file_gives_back_what_was_remembered(table, most):
    model = saved(coarser(table.summary(), most))
    data = store.to_bytes(model)
    assert store.from_bytes(data) == model
    assert store.to_bytes(store.from_bytes(data)) == data


def forged(seen: ColumnMemory) -> list[ColumnMemory]:
    """What no rows could have left."""
    cells = seen.cells[0]
    return [
        replace(seen, numbers=seen.logs),
        replace(seen, logs=seen.numbers),
        replace(seen, cells=(replace(cells, cells=cells.cells[::-1].copy()), *seen.cells[1:])),
        replace(seen, cells=(replace(cells, level=80), *seen.cells[1:])),
        replace(seen, cells=(replace(cells, marks=cells.marks + 5), *seen.cells[1:])),
        replace(seen, cells=(replace(cells, units=2 * cells.units), *seen.cells[1:])),
    ]


def test_what_no_rows_could_have_left_is_not_loaded():
    batch = Batch.of({"x0": [1.5, -2.0, 0.0, 4.0], "x1": ["a", "b", None, "a"]}, ["yes", "no", "yes", "no"])
    summary = Summary.of(OPEN, batch)
    for wrong in forged(summary.statistics[0]):
        data = store.to_bytes(saved(replace(summary, statistics=(wrong,))))
        with pytest.raises(CandideError):
            store.from_bytes(data)


def test_many_numbers_are_kept_in_some_hundred_cells_and_fewer_bytes_than_rows():
    rng = np.random.default_rng(0)
    table = Batch.of({"x0": rng.normal(size=20_000), "x1": rng.integers(0, 9, 20_000)}, rng.choice(["a", "b"], 20_000))
    summary = Summary.of(OPEN, table).first_met()
    assert [len(cells) <= 512 for cells in summary.statistics[0].cells] == [True, True]
    assert len(store.to_bytes(saved(summary))) < 20_000
