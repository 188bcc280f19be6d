"""Tables made from seeds: nothing that rows can hold is left to luck, and what fails shrinks."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import find

from candide import families
from strategies import EXTREME, LABELS, ORDINARY, STRANGE, any_cells, blocks_of, cells, row, several, taken


@pytest.mark.parametrize("name", families.names())
def test_rows_hold_every_value_that_the_family_takes(name):
    blocks = blocks_of(name)
    made = [row(blocks)(Random(seed)) for seed in range(2000)]
    assert {found.label for found in made} == set(LABELS)
    assert {found.weight for found in made} == {1, 2, 3, 50}
    wanted = {*map(repr, taken(blocks[0].family, (*ORDINARY, *EXTREME))), "None"}
    for column in zip(*(found.cells for found in made), strict=True):
        assert wanted <= set(map(repr, column))


def test_ordinary_rows_hold_no_extreme_value():
    (block,) = blocks_of("gaussian")
    ordinary = {*map(repr, taken(block.family, ORDINARY)), "None"}
    assert {repr(cells(block.family, extreme=False)(Random(seed))) for seed in range(500)} == ordinary


@pytest.mark.parametrize(("name", "kinds"), [("categorical", object), ("gaussian", float)])
def test_questions_hold_anything(name, kinds):
    (block,) = blocks_of(name)
    wanted = {repr(cell) for cell in (*ORDINARY, *EXTREME, *STRANGE) if isinstance(cell, kinds)}
    assert wanted <= {repr(any_cells(block.family)(Random(seed))) for seed in range(3000)}


def test_lists_have_every_length_and_doubles():
    def with_double(drawn):
        return len(drawn) > len(set(drawn))

    assert len(find(several(Random.random, 0, 8), with_double)) == 2
    assert len(find(several(Random.random, 0, 8), lambda drawn: len(drawn) > 6)) == 7


def test_what_fails_shrinks_to_few_rows():
    """The longer list of a seed begins with the shorter one."""
    numbers = several(lambda chance: chance.randrange(100), 0, 50)
    found = find(numbers, lambda drawn: any(number > 90 for number in drawn))
    assert [number > 90 for number in found] == [False] * (len(found) - 1) + [True]
