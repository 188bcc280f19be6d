"""What can go wrong, each as a sentence: what was found, where, what was expected, what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from candide.data.visible import visible


class CandideError(ValueError):
    """Something about the data or the call is wrong; the message says how to mend it, with data made visible."""

    def __str__(self) -> str:
        return visible(super().__str__())


class ColumnRefused(CandideError):
    """A column is unknown, missing, or holds what its family cannot take."""


class ValuesRefused(CandideError):
    """Values are of a type that is not read; whoever knows the column adds its name."""


class RowsRefused(CandideError):
    """Rows, labels and weights do not fit together."""


class LabelsRefused(CandideError):
    """Labels are missing, mixed or unknown."""


class OptionRefused(CandideError):
    """An argument cannot be honoured."""


class SummariesDisagree(CandideError):
    """Two summaries describe different columns or families and cannot be added."""


class ForgetRefused(CandideError):
    """Rows to forget were never learned: some count would become negative."""


class RowNeverLearned(ForgetRefused):
    """A row to forget is not in the ledger; `row` is counted from 1."""

    def __init__(self, row: int, label: str) -> None:
        super().__init__(
            f"Row {row:,}, with label '{label}', was never learned, or not as often as it is to be forgotten: "
            "the ledger does not hold it. Nothing was forgotten. Forget only rows that were learned."
        )
        self.row, self.label = row, label


class OverflowRefused(CandideError):
    """A count would no longer fit in 64 bits."""


class MissingColumnWarning(UserWarning):
    """Rows lack columns that the model asks for, and were answered without them."""


class ColumnWarning(UserWarning):
    """A column that a user should look at twice: an id, a copy of another, one that gives the label away."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """A hint at the nearest known name, or the names there are.

    >>> suggestion("surived", ["survived", "sex"])
    "Did you mean 'survived'?"
    >>> suggestion("x", ["age", "sex"])
    "Known names: 'age', 'sex'."
    """
    known = list(known)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"Did you mean '{near[0]}'?"
    listed = ", ".join(f"'{other}'" for other in known[:12])
    return f"Known names: {listed}{', ...' if len(known) > 12 else ''}."
