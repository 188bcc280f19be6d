"""What can go wrong, each as data: what was found, where, what was expected, and what to do next.

The message of an error is worded for Python; other faces word `error.message` themselves, and `error.to_dict()` is for
programs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any, ClassVar, Self

from candide.data.advice import Message, NamedOption, Part, plain_part
from candide.data.visible import visible, visible_lines


@dataclass(frozen=True)
class Location:
    """Where something was found, as far as that is known; rows and the lines of a file are counted from 1."""

    file: str | None = None
    row: int | None = None
    column: str | None = None
    value: Any = None
    line: int | None = None


NOWHERE = Location()


class Told(Exception):
    """Something that people are told, and programs: `what` was found, `where`, what was `expected`, and `advice`.

    >>> from candide.data.advice import SetOption
    >>> problem = ColumnRefused("It holds 2.5.", advice=("Choose ", SetOption("families", "gaussian", "x"), "."))
    >>> str(problem)
    "It holds 2.5. Choose families={'x': 'gaussian'}."
    """

    usual_advice: ClassVar[str] = ""
    """What to do where nothing else is advised."""

    def __init__(
        self, *what: Part, advice: Part | Iterable[Part] = (), where: Location = NOWHERE, expected: str = ""
    ) -> None:
        super().__init__(*what)
        self.what = Message(*what)
        advice = advice or self.usual_advice
        self.advice = Message(*([advice] if isinstance(advice, str) or not isinstance(advice, Iterable) else advice))
        self.where = where
        self.expected = expected

    @classmethod
    def of_option(cls, name: str, expected: str, value: Any) -> Self:
        """The refusal of an option's value.

        >>> str(OptionRefused.of_option("confidence", "a number from 0 to 1", 2))
        'confidence must be a number from 0 to 1, not 2.'
        """
        said = f" must be {expected}, not {value!r}."
        return cls(NamedOption(name), said, where=Location(value=value), expected=expected)

    @classmethod
    def of_name(cls, said: str, name: str, known: Iterable[str], where: Location | None = None) -> Self:
        """The refusal of a name that is not known, with the nearest that is.

        >>> str(OptionRefused.of_name("There is no family 'poison'.", "poison", ["poisson", "gamma"]))
        "There is no family 'poison'. Did you mean 'poisson'?"
        """
        return cls(said, advice=suggestion(name, known), where=where or Location(value=name))

    @property
    def message(self) -> Message:
        """What was found and what to do, in one."""
        return Message(self.what, " ", self.advice) if self.what and self.advice else Message(self.what, self.advice)

    def __str__(self) -> str:
        return visible(self.message)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON can say it; advice as objects between plain sentences."""
        where = {name: value for name, value in asdict(self.where).items() if value is not None}
        return {
            "error": type(self).__name__,
            "message": str(self),
            "what": [plain_part(part) for part in self.what.parts],
            "where": {name: v if isinstance(v, str | int | float) else str(v) for name, v in where.items()},
            "expected": self.expected or None,
            "advice": [plain_part(part) for part in self.advice.parts],
        }

    def __reduce__(self) -> Any:
        return remade, (type(self), self.args, self.__dict__)


def remade(kind: type[Told], args: tuple[Any, ...], state: dict[str, Any]) -> Told:
    """An error as it was, in another process."""
    made = kind.__new__(kind, *args)
    made.__dict__.update(state)
    return made


class CandideError(Told, ValueError):
    """Something about the data or the call is wrong; the message says how to mend it, with data made visible."""


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

    usual_advice = "Forget only rows that were learned."


class RowNeverLearned(ForgetRefused):
    """A row to forget is not in the ledger; `row` is counted from 1."""

    def __init__(self, row: int, label: str) -> None:
        super().__init__(
            f"Row {row:,}, with label '{label}', was never learned, or not as often as it is to be forgotten: "
            "the ledger does not hold it. Nothing was forgotten.",
            where=Location(row=row, value=label),
        )
        self.row, self.label = row, label


class OverflowRefused(CandideError):
    """A count would no longer fit in 64 bits."""

    usual_advice = "Scale the weights down."


class MissingColumnWarning(Told, UserWarning):
    """Rows lack columns that the model asks for, and were answered without them."""


class ColumnWarning(Told, UserWarning):
    """Columns that a user should look at twice, a line each: ids, copies of others, those that give the label away."""

    def __str__(self) -> str:
        return visible_lines(self.message)


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
