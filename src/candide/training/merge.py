"""Merge: what two models learned, exactly as if one had learned it all, whatever was chosen for each."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

from candide.data.advice import SetOption, UseVerb
from candide.data.errors import Location, SummariesDisagree
from candide.families.base.family import AnyFamily
from candide.model.reading import read_as
from candide.model.schema import LEFT_OUT, Choice, Schema
from candide.model.summary import family_in_words
from candide.model.trained_model import TrainedModel
from candide.statistics.column_memory import ColumnMemory
from candide.training.reread import expected_as


def merge_two(first: TrainedModel, other: TrainedModel) -> TrainedModel:
    """What both learned, with the options, the provenance and the choices of the first, which `reread` makes anew.

    Of each column is kept what both remember of it: families of columns left open can be read off the sum.
    """
    if (first.ledger is None) != (other.ledger is None):
        raise SummariesDisagree(
            "Of these two, one keeps a ledger of its rows and the other does not, so their sum could keep none.",
            advice=("Learn both with a ledger, ", UseVerb("fit", (SetOption("ledger", True),)), ", or both without."),
        )
    ledger = first.ledger + other.ledger if first.ledger is not None and other.ledger is not None else None
    schema = first.schema
    if first.summary.blocks != other.summary.blocks:
        schema = common_schema(first.schema, other.schema)
    mine, theirs = (
        read_as(trained.summary, schema.memory_blocks, trained.schema.remembered) for trained in (first, other)
    )
    expected = [found for trained in (first, other) if (found := expected_as(trained, schema)) is not None]
    together = reduce(add, expected) if expected else None
    return replace(first, schema=schema, summary=mine + theirs, ledger=ledger, expected=together)


def common_schema(first: Schema, other: Schema) -> Schema:
    """The choices of the first, and of columns that only the other has, for what both remember of each column."""
    theirs = {choice.column: choice for choice in other.choices}
    if first.choices and theirs and not theirs.keys() & {*first.columns}:
        raise SummariesDisagree(
            f"These have no column in common: '{first.columns[0]}' is only here, '{other.columns[0]}' only there.",
            advice=("Fit the second like the first, with ", UseVerb("fit", (SetOption("like"),)), ", then merge."),
            where=Location(column=other.columns[0]),
        )
    together, there = joint_columns(first), joint_columns(other)
    apart = [family for family, columns in together.items() if there.get(family) != columns]
    ours = [replace(c, family=None) if c.family in apart and is_undecided(c) else c for c in first.choices]
    kept = [common_choice(mine, theirs[mine.column]) if mine.column in theirs else mine for mine in ours]
    silent = {choice.column for choice in kept if choice.family is None and choice.remembered is None}
    counted = {pair.counted_as for pair in other.pairs}
    pairs = tuple(pair for pair in first.pairs if pair.counted_as in counted and not silent & {*pair.columns})
    return Schema((*kept, *(choice for choice in other.choices if choice.column not in set(first.columns))), pairs)


def joint_columns(schema: Schema) -> dict[AnyFamily, tuple[str, ...]]:
    """Families whose columns speak together, and which columns these are: others cannot be made of them."""
    return {block.family: block.columns for block in schema.blocks if block.family.is_joint}


def common_choice(mine: Choice, theirs: Choice) -> Choice:
    """What becomes of a column that both have.

    Left out by one, it is left out. A bell of all numbers, or a further reading of a text, that only one of them has
    counted goes. What one has decided about and the other left open is read off by the one's family.
    """
    if not mine.memories or not theirs.memories:
        reason = mine.reason if not mine.memories else theirs.reason
        return Choice(mine.column, None, reason, kind=mine.kind, rule=LEFT_OUT)
    if is_undecided(mine) and not is_undecided(theirs):
        mine, theirs = theirs, mine
    kept = tuple(family for family in mine.families if is_counted(family, theirs))
    remembered = next((f for f in common_memories(mine, theirs) if is_counted(f, mine) and is_counted(f, theirs)), None)
    if not kept and remembered is None:
        raise SummariesDisagree(
            f"Column '{mine.column}' is {choice_in_words(mine, theirs)} here and {choice_in_words(theirs, mine)} "
            "there, and neither can be made of the other.",
            advice=("Fit the second like the first, with ", UseVerb("fit", (SetOption("like"),)), ", then merge."),
            where=Location(column=mine.column),
        )
    rule = LEFT_OUT if LEFT_OUT in (mine.rule, theirs.rule) else mine.rule if mine.rule == theirs.rule else ""
    if is_undecided(mine):
        family = kept[0] if kept and rule != LEFT_OUT else None
        return replace(mine, family=family, auxiliary=(), remembered=remembered, rule=rule)
    if mine.family in kept or remembered is None or mine.family is None:
        return replace(mine, family=kept[0], auxiliary=kept[1:], remembered=remembered, rule=rule)
    first = replace(remembered, smoothing=mine.family.smoothing)
    reason = f"{mine.reason.partition(';')[0]}; read in a way that all of the merged have counted"
    return replace(mine, family=first, auxiliary=kept, remembered=None, rule=rule, reason=reason)


def common_memories(mine: Choice, theirs: Choice) -> tuple[AnyFamily, ...]:
    """What is remembered of a column beside its readings, by one or the other."""
    return tuple(choice.remembered for choice in (mine, theirs) if choice.remembered is not None)


def is_undecided(choice: Choice) -> bool:
    """Whether all is remembered of a column that families of tables might ask."""
    return choice.remembered is not None and choice.remembered.statistic is ColumnMemory


def is_counted(family: AnyFamily, choice: Choice) -> bool:
    """Whether what a family remembers can be had from what is remembered of a column."""
    if any(memory.counted_as == family.counted_as for memory in choice.memories):
        return True
    speaks_together = family.is_joint or family.shares_total
    return is_undecided(choice) and not speaks_together and family.statistic is not ColumnMemory


def choice_in_words(choice: Choice, other: Choice) -> str:
    """A choice in words that set it apart from the other."""
    return "left out" if choice.family is None else family_in_words(choice.family, other.family)
