"""Which columns form which block, with which family, and why: guessed from the rows or written by hand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from candide import families as family_files
from candide.data.advice import Message, SetOption
from candide.data.batch import TEXT, Batch, SparseColumns
from candide.data.cached import cached_property
from candide.data.errors import ColumnRefused, Location, OptionRefused
from candide.data.times import time_kind
from candide.data.visible import visible
from candide.families.base.family import AnyFamily, Block, Family
from candide.families.base.undecided import Undecided
from candide.families.pairs.pair import Pair
from candide.families.words.options import TextOptions
from candide.model.domain import what_is_held
from candide.model.guess import Guess, confirmed, guess_column, guess_sparse
from candide.model.reading import read_as
from candide.model.row_sample import picked
from candide.model.summary import Summary, fingerprint

IGNORE, GUESS, AUTO, LEFT_OUT = "ignore", "guess", "auto", "left out"
OPEN = (AUTO, GUESS)
Families = str | AnyFamily | Mapping[str, Any]
Smoothing = str | float | Mapping[str, float]
Text = TextOptions | Mapping[str, TextOptions] | None


@dataclass(frozen=True)
class Choice:
    """What was decided about one column, and why; no family means the column is left out.

    `auxiliary` are further readings of the same column, such as the pairs of words of a text: each a block of its own.
    They are scores, which calibration weighs; what the column's values are likely to be is the family's to say.
    `warning` is what a user should know before trusting the column, such as that it looks like an id. It may name
    values of the rows it was found in, so it is a record outside equality, and goes when rows are forgotten.
    `kind` says how its values are written where that is not plain to see, as `candide.sources.kinds` names it: dates,
    numbers with a decimal comma. `holds` says which numbers it holds, such as whole ones (`candide.model.domain`).

    `remembered` is what is remembered of a column that was left open, so that its family can be read off at any time;
    nothing where the family keeps what it needs. `rule` says how it is read off: by contest where nothing is said, by
    the look of the values ("guess"), always one family (its name), or not at all since the column is left out.
    """

    column: str
    family: AnyFamily | None
    reason: str
    auxiliary: tuple[AnyFamily, ...] = ()
    warning: str = field(default="", compare=False)
    kind: str = ""
    holds: str = ""
    remembered: AnyFamily | None = None
    rule: str = ""

    @property
    def families(self) -> tuple[AnyFamily, ...]:
        """All that speak for the column: its family and further readings."""
        return () if self.family is None else (self.family, *self.auxiliary)

    @property
    def memories(self) -> tuple[AnyFamily, ...]:
        """All that is remembered of the column."""
        if self.remembered is None:
            return self.families
        return tuple(dict.fromkeys((self.remembered, *(f for f in self.families if not f.is_read_off))))

    def also_warned(self, warning: str) -> Choice:
        """The same choice with one thing more to know."""
        return replace(self, warning=Message(self.warning).and_then(warning))


@dataclass(frozen=True)
class Schema:
    """The choice made for each column, and the pairs of columns that also speak together."""

    choices: tuple[Choice, ...]
    pairs: tuple[Pair, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(choice.column for choice in self.choices)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Columns of equal families together, in the order in which they first appear; then pairs."""
        return grouped((choice.column, choice.families) for choice in self.choices) + self.pair_blocks

    @cached_property
    def memory_blocks(self) -> tuple[Block, ...]:
        """What a summary of these columns remembers: families that keep what they need, and columns left open."""
        return grouped((choice.column, choice.memories) for choice in self.choices) + self.pair_blocks

    @property
    def pair_blocks(self) -> tuple[Block, ...]:
        """Each pair of columns is a block of its own."""
        return tuple(Block(pair, pair.columns) for pair in self.pairs)

    @property
    def remembered(self) -> dict[str, AnyFamily]:
        """Under which family the columns are remembered that were left open."""
        return {choice.column: choice.remembered for choice in self.choices if choice.remembered}

    def read(self, summary: Summary) -> Summary:
        """What the families make of a summary of these columns."""
        return read_as(summary, self.blocks, self.remembered)

    @property
    def fingerprint(self) -> str:
        """Equal for schemas whose summaries add."""
        return fingerprint(self.memory_blocks)

    @property
    def warnings(self) -> dict[str, str]:
        """What to know before trusting some columns, by column."""
        return {choice.column: choice.warning for choice in self.choices if choice.warning}

    @property
    def kinds(self) -> dict[str, str]:
        """How the values of some columns are written."""
        return {choice.column: choice.kind for choice in self.choices if choice.kind}

    @property
    def holds(self) -> dict[str, str]:
        """Which numbers some columns hold."""
        return {choice.column: choice.holds for choice in self.choices if choice.holds}

    def summarize(self, batch: Batch) -> Summary:
        """The summary of one batch under this schema."""
        return Summary.of(self.memory_blocks, batch)

    def extended(self, other: Schema) -> Schema:
        """This schema, and the other's choices for columns not yet in it."""
        known = set(self.columns)
        return replace(self, choices=self.choices + tuple(c for c in other.choices if c.column not in known))

    def without(self, columns: Collection[str]) -> Schema:
        """This schema without some columns, and without the pairs that have one of them."""
        choices = tuple(choice for choice in self.choices if choice.column not in columns)
        return replace(self, choices=choices, pairs=tuple(p for p in self.pairs if not {*p.columns} & {*columns}))

    def without_warnings(self) -> Schema:
        """This schema with nothing said about columns to look at twice."""
        return replace(self, choices=tuple(replace(choice, warning="") for choice in self.choices))

    def explain(self) -> str:
        """One line a column: its family and the reason; another where it should be looked at twice.

        >>> print(Schema((Choice("age", family_files.named("gaussian"), "numbers"),)).explain())
        age  gaussian  numbers
        """
        rows = []
        for choice in self.choices:
            family = choice.family.name if choice.family else "left out"
            rows.append((visible(choice.column), family, visible(choice.reason)))
            rows += [("", "", f"! {visible(choice.warning)}")] if choice.warning else []
        rows += [(visible(" and ".join(pair.columns)), "pair", "together they tell more") for pair in self.pairs]
        name = max((len(row[0]) for row in rows), default=0)
        kind = max((len(row[1]) for row in rows), default=0)
        return "\n".join(f"{row[0]:{name}}  {row[1]:{kind}}  {row[2]}" for row in rows)


def grouped(columns: Iterable[tuple[str, Sequence[AnyFamily]]]) -> tuple[Block, ...]:
    """Columns under each of their families, those of equal families in one block."""
    blocks: dict[AnyFamily, list[str]] = {}
    for column, families in columns:
        for family in families:
            blocks.setdefault(family, []).append(column)
    return tuple(Block(family, tuple(names)) for family, names in blocks.items())


def choose(
    batch: Batch,
    families: Families = "auto",
    smoothing: Smoothing = "auto",
    missing_is_value: bool = False,
    text: Text = None,
) -> Schema:
    """A family for every column: as given, else guessed from the rows with a reason."""
    given = families_by_column(families, batch.names)
    refuse_unknown_columns(smoothing, batch.names)
    refuse_unknown_columns(text, batch.names)
    known_by_hand = len(given) == len(batch.names)
    guesses = None if known_by_hand else guess_sparse(batch)
    sample = batch if known_by_hand or guesses or batch.names == (TEXT,) else picked(batch)
    holds = {} if known_by_hand or guesses else what_is_held(sample, batch.names)
    choices = []
    for name in batch.names:
        if name in given:
            guess = Guess(given[name], "as you said")
        elif isinstance(text, Mapping) and name in text:
            guess = Guess("text", "as you said")
        else:
            guess = guesses or confirmed(guess_column(sample, name), batch, name)
        choice = chosen(name, guess, smoothing, missing_is_value, text)
        choice = replace(choice, kind=kind_held(batch, name), holds=holds.get(name, ""))
        choice = suited(choice, sample) if said_by_name(families, name) else choice
        is_open = name not in given and not guesses and is_left_to_us(families, name)
        choices.append(left_open(choice, missing_is_value) if is_open else choice)
    return Schema(tuple(choices))


def is_left_to_us(families: Families, column: str) -> bool:
    """Whether the user asked for nothing but the best family of a column."""
    return (families.get(column, AUTO) if isinstance(families, Mapping) else families) == AUTO


def left_open(choice: Choice, missing_is_value: bool) -> Choice:
    """The choice of a column whose family is read off whatever it comes to hold; texts are counted as they are read."""
    if choice.family is not None and not choice.family.is_read_off:
        return choice
    return replace(choice, remembered=Undecided(missing_is_value=missing_is_value))


def kind_held(batch: Batch, name: str) -> str:
    """Which kind of times a column holds, or truths; nothing for other values."""
    raw = batch.columns.raw(batch.position(name)) if not isinstance(batch.columns, SparseColumns) else None
    if not isinstance(raw, (pa.Array, pa.ChunkedArray)):
        return ""
    return "truth" if pa.types.is_boolean(raw.type) else time_kind(raw.type)


def chosen(name: str, guess: Guess, smoothing: Smoothing, missing_is_value: bool, text: Text) -> Choice:
    """A guess made definite: mixed types refused; smoothing, the missing switch and text options put in."""
    if guess.family == "mixed":
        raise ColumnRefused(
            f"Column '{name}' mixes types ({guess.reason}).",
            advice=(
                "Make them one type, or take each value as it is with ",
                SetOption("families", "categorical", name),
                ".",
            ),
            where=Location(column=name),
            expected="values of one type",
        )
    if guess.family == IGNORE:
        return Choice(name, None, guess.reason)
    family = guess.family if isinstance(guess.family, Family) else family_files.named(guess.family)
    family = family.asked_for(name, missing_is_value, text.get(name) if isinstance(text, Mapping) else text)
    return Choice(name, smoothed(family, name, smoothing), guess.reason, warning=guess.warning)


def said_by_name(families: Families, column: str) -> bool:
    """Whether the user named the family of a column, and left its options to us."""
    said = families.get(column) if isinstance(families, Mapping) else families
    return isinstance(said, str) and said not in (*OPEN, IGNORE)


def suited(choice: Choice, sample: Batch) -> Choice:
    """The choice with what its family takes from a sample, such as bins that suit the values."""
    assert choice.family is not None
    return replace(choice, family=choice.family.suited_to(sample.only([choice.column])))


def smoothed(family: AnyFamily, name: str, smoothing: Smoothing) -> AnyFamily:
    """The family with the user's smoothing: one number speaks to all that add counts, a name to any family."""
    if isinstance(smoothing, Mapping):
        return replace(family, smoothing=float(smoothing[name])) if name in smoothing else family
    if smoothing in ("auto", "default"):
        return family
    if isinstance(smoothing, str) or smoothing is None:
        raise OptionRefused.of_option(
            "smoothing", "'auto', 'default', a number or a number for each column", smoothing
        )
    return replace(family, smoothing=float(smoothing)) if family.adds_counts else family


def families_by_column(families: Families, names: Sequence[str]) -> dict[str, Any]:
    """What the user said, column by column; a single family speaks for all."""
    if isinstance(families, Mapping):
        refuse_unknown_columns(families, names)
        return {name: checked(family) for name, family in families.items() if family not in OPEN}
    return {} if families in OPEN else dict.fromkeys(names, checked(families))


def checked(family: Any) -> Any:
    """A family, or a name that is one."""
    if isinstance(family, Family) or family == IGNORE:
        return family
    if not isinstance(family, str):
        raise OptionRefused(
            f"A family is a name or a Family, not {family!r}.",
            where=Location(value=family),
            expected="a name or a Family",
        )
    return family_files.named(family)


def refuse_unknown_columns(by_column: Any, names: Sequence[str]) -> None:
    """Raise where a mapping names a column that is not there."""
    if isinstance(by_column, Mapping):
        for name in by_column:
            if name not in names:
                raise ColumnRefused.of_name(
                    f"There is no column '{name}'.", str(name), names, where=Location(column=str(name))
                )


