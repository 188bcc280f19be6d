"""Columns to look at twice: ids, times, copies of other columns, and columns that give the label away.

Each suspicion is a rule in a file of its own; here it becomes a warning, and, where the user left the column open, a
decision. A column that the user spoke of by name is as the user said. None of the rules depends on the order of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from candide.data.advice import Message, SetOption
from candide.data.batch import Batch, SparseColumns
from candide.families.base.competing import TEXT, TRUTH
from candide.families.base.family import Block
from candide.families.base.undecided import Undecided
from candide.model.options import Options
from candide.model.schema import LEFT_OUT, OPEN, Choice, Schema
from candide.model.summary import Summary
from candide.selection.candidates import candidates, holds_numbers
from candide.selection.contest import contest
from candide.selection.copies import copies, recodings_of_label
from candide.selection.identifiers import is_called_id, might_name, mostly_own_values, names_rows, whole_numbers
from candide.selection.leaks import Leak
from candide.selection.look import remembered_column
from candide.selection.read_off import FEWEST_ROWS
from candide.selection.timestamps import timestamp_columns
from candide.selection.trials import distinct_classes

BY_CHANCE = 3.0
"""A column that lowers the loss of all left-out rows together by fewer nats than this tells nothing."""

LATER = "it tells a time, and later rows will lie beyond all that was learned"
AFTERWARDS = "If it is known only once the label is, it should not be learned"
NO_SAY = "It has no say in whether a row is unfamiliar"


@dataclass(frozen=True)
class Suspicion:
    """What is odd about a column, whether it should be left out for that, and what else to know."""

    column: str
    finding: str
    leave_out: bool = False
    advice: str = ""
    forget: bool = False
    """Whether not even its values are remembered, since each row has another."""


def screened(guessed: Schema, rows: Batch, user_options: Options) -> Schema:
    """The schema with warnings, and without columns that name rows or repeat others; as it is where rows are few."""
    is_open = {
        choice.column for choice in guessed.choices if choice.family and is_left_open(user_options, choice.column)
    }
    if len(rows) < FEWEST_ROWS or isinstance(rows.columns, SparseColumns) or not is_open:
        return guessed
    found: dict[str, Suspicion] = {}
    for suspicion in suspicions(guessed, rows, is_open, user_options.calibrate):
        found.setdefault(suspicion.column, suspicion)
    may_leave = user_options.families != "guess" and any(
        choice.family and not (choice.column in found and found[choice.column].leave_out) for choice in guessed.choices
    )
    choices = (warned(choice, found.get(choice.column), may_leave) for choice in guessed.choices)
    return replace(guessed, choices=tuple(choices))


def unscreened(schema: Schema, before: Schema) -> Schema:
    """The schema as it was before columns were looked at twice, as far as they are remembered."""
    first = {choice.column: choice for choice in before.choices}
    choices = (
        replace(choice, family=first[choice.column].family, warning=first[choice.column].warning, rule="")
        if isinstance(choice.remembered, Undecided)
        else choice
        for choice in schema.choices
    )
    return replace(schema, choices=tuple(choices))


def is_left_open(user_options: Options, column: str) -> bool:
    """Whether the user said nothing of this column by name."""
    return (
        column not in user_options.families
        if isinstance(user_options.families, Mapping)
        else user_options.families in OPEN
    )


def suspicions(schema: Schema, rows: Batch, is_open: set[str], calibrated: bool) -> Iterator[Suspicion]:
    """Everything odd about the open columns; the first word about a column counts."""
    times = set(timestamp_columns(rows))
    yield from (Suspicion(name, LATER, advice=NO_SAY) for name in times & is_open)
    ids, might_be = set(), is_open - times
    for choice in schema.choices:
        if choice.column in might_be and might_name_rows(choice):
            suspicion = as_identifier(choice, rows)
            ids |= {choice.column} if suspicion and suspicion.leave_out else set()
            yield from [suspicion] if suspicion else []
    learned = [choice.column for choice in schema.choices if choice.family and choice.column not in ids]
    yield from (recoding for recoding in label_recodings(rows, learned) if recoding.column in is_open)
    yield from (copy for copy in repetitions(rows, learned, calibrated) if copy.column in is_open)


def might_name_rows(choice: Choice) -> bool:
    """Whether a column might be an id: texts and truths are none, nor numbers that were only misread as strings."""
    is_misread = bool(choice.warning) and not is_called_id(choice.column)
    return not is_misread and choice.family is not None and choice.family.reads not in (TEXT, TRUTH)


def as_identifier(choice: Choice, rows: Batch) -> Suspicion | None:
    """Whether a column names rows: surely, or by a name or many digits that tell nothing about the label."""
    column = rows.only([choice.column])
    if (are_numbers := holds_numbers(column)) and not len(whole_numbers(column)):
        return None
    if finding := names_rows(column):
        return Suspicion(choice.column, f"it looks like an id: {finding}", leave_out=True, forget=not are_numbers)
    if finding := might_name(column):
        if tells_nothing(choice, column):
            return Suspicion(choice.column, f"it looks like an id: {finding}, telling nothing of left-out rows", True)
        if is_called_id(choice.column):
            said = f"it looks like an id: {finding}, and yet it tells something of left-out rows"
            return Suspicion(choice.column, said, advice=NO_SAY)
    if finding := mostly_own_values(column):
        return Suspicion(choice.column, f"{finding}, which tells nothing about others")
    return None


def tells_nothing(choice: Choice, column: Batch) -> bool:
    """Whether no family lowers the loss of left-out rows by more than chance would."""
    if distinct_classes(column) < 2 or choice.family is None:
        return False
    summary = Summary.of((Block(Undecided(), column.names),), column)
    remembered = remembered_column(summary.statistics[0], column.names, choice.column)
    best = contest(remembered, summary, candidates(choice.family, remembered.look[0], remembered))[0]
    return (best.prior_loss - best.loss) * best.rows < BY_CHANCE


def label_recodings(rows: Batch, columns: list[str]) -> Iterator[Suspicion]:
    """Columns that are the label by other names, where there are other columns."""
    if len(columns) > 1 and distinct_classes(rows) > 1:
        finding = "it is the label by other names: each value goes with one class"
        yield from (Suspicion(name, finding, advice=AFTERWARDS) for name in recodings_of_label(rows, columns))


def repetitions(rows: Batch, columns: list[str], calibrated: bool) -> Iterator[Suspicion]:
    """Columns that say the same as an earlier one."""
    weighed = "Calibration weighs them, so that they hardly count twice" if calibrated else "They count twice"
    for copy in copies(rows, columns):
        if copy.is_same:
            yield Suspicion(copy.column, f"it is the same as '{copy.of}' in every row", leave_out=True)
        else:
            finding = f"it says the same as '{copy.of}' by other names: each value goes with one of the other"
            yield Suspicion(copy.column, finding, advice=weighed)


def warned(choice: Choice, suspicion: Suspicion | None, may_leave: bool) -> Choice:
    """The choice with a warning that says what was found, what was done, and how to have it otherwise."""
    if suspicion is None:
        return choice
    if suspicion.leave_out and may_leave:
        otherwise = f"{suspicion.finding}. It is left out; to learn it all the same: "
        warning = Message(otherwise, SetOption("families", "guess", choice.column), ".")
        remembered = None if suspicion.forget else choice.remembered
        left_out = replace(choice, family=None, auxiliary=(), remembered=remembered, rule=LEFT_OUT)
        return replace(left_out, reason=suspicion.finding, warning=warning)
    return choice.also_warned(kept(choice.column, suspicion.finding, suspicion.advice))


def kept(column: str, finding: str, advice: str = "") -> str:
    """A warning about a column that stays."""
    said = f"{finding}. {advice}." if advice else f"{finding}."
    return Message(f"{said} It is kept; to leave it out: ", SetOption("families", "ignore", column), ".")


def with_leaks(schema: Schema, leaks: Sequence[Leak]) -> Schema:
    """The schema with a warning about columns that give the label away."""
    found = {leak.column: leak for leak in leaks}
    choices = (
        choice.also_warned(given_away(found[choice.column]))
        if choice.column in found and AFTERWARDS not in choice.warning
        else choice
        for choice in schema.choices
    )
    return replace(schema, choices=tuple(choices))


def given_away(leak: Leak) -> str:
    """What is odd about a column that tells nearly everything."""
    finding = (
        f"it may give the label away: alone it is right about {leak.own_accuracy:.1%} of the {leak.rows:,} rows that "
        f"have it, all other columns together about {leak.others_accuracy:.1%}"
    )
    return kept(leak.column, finding, AFTERWARDS)
