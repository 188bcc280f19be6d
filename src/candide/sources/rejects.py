"""Rows that could not be read: the first one stops everything, or all are counted and written to a file."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from candide.data.advice import Message, SetOption
from candide.data.errors import Location
from candide.sources.refused import SourceRefused, ValueMisfit, reason_of

SHOWN = 60
ON_ERROR = ("stop", "skip", "keep")
"""Refuse a bad row, leave it out, or (to predict) let it come back as it was, without an answer."""

SKIP, KEEP = SetOption("on_error", "skip"), SetOption("on_error", "keep")
NO_LABEL = Message(
    "Fill it in, leave such rows out with ", SKIP, ", or let them take part in a fit: ", SetOption("unlabelled", "em"),
    ".",
)
"""What to do about rows without a label."""


@dataclass(frozen=True)
class Place:
    """Where a row is: a file (or table) and the number of its line (or row), from 1."""

    name: str
    unit: str
    number: int

    def __str__(self) -> str:
        return f"{self.name}, {self.unit} {self.number:,}" if self.number else self.name


@dataclass(frozen=True)
class Reject:
    """One row that could not be read: where, why, what would help, and the row as it was."""

    place: Place
    reason: str
    advice: str = ""
    column: str = ""
    row: str = ""
    value: str | None = None
    expected: str = ""
    is_misfit: bool = False
    """Whether it is a single value that is not what its column was decided to be."""

    @property
    def refused(self) -> SourceRefused:
        """The error that stops everything."""
        place, number = self.place, self.place.number or None
        row, line = (None, number) if place.unit == "line" else (number, None)
        where = Location(place.name, row, self.column or None, self.value, line)
        said = f"{self.place}: {self.reason}"
        kind = ValueMisfit if self.is_misfit else SourceRefused
        return kind(said, advice=self.advice, where=where, expected=self.expected)


def misfit(place: Place, column: str, value: Any, expected: str, row: str = "") -> Reject:
    """The reject for a value that is not what its column was decided to be."""
    text = value if isinstance(value, str) else str(value)
    return Reject(
        place,
        f"column '{column}' holds {shortened(value)}, but {expected} was expected.",
        Message(
            "Mend the value, say that it means missing with ",
            SetOption("na", [text]) if len(text) <= SHOWN else SetOption("na"),
            ", read the column as it is with ",
            SetOption("types", "text", column),
            ", or leave such rows out with ",
            SKIP,
            ".",
        ),
        column,
        row,
        text,
        expected,
        is_misfit=True,
    )


def shortened(value: Any) -> str:
    """A value as it can stand in a sentence."""
    text = value if isinstance(value, str) else str(value)
    return repr(text if len(text) <= SHOWN else text[:SHOWN] + "...")


class Rejects:
    """What happens to rows that could not be read, and how many there were in the latest pass."""

    def __init__(self, on_error: str = "stop", path: str | os.PathLike[str] | None = None):
        if on_error not in ON_ERROR:
            raise SourceRefused.of_option("on_error", "'stop' or 'skip' (for predict also 'keep')", on_error)
        if path is not None and on_error == "stop":
            raise SourceRefused("A file for rejects is only written with ", SKIP, ".")
        self.skips = on_error != "stop"
        self.keeps = on_error == "keep"
        self.path = path
        self.count = 0
        self.first: Reject | None = None
        self._file: Any = None

    def begin(self) -> None:
        """Start a pass: forget the rejects of the last one."""
        self.count, self.first = 0, None
        self.end()
        if self.path is not None:
            try:
                self._file = open(self.path, "w", encoding="utf-8", newline="")  # noqa: SIM115
            except OSError as problem:
                raise SourceRefused(
                    f"Cannot write rejects to '{self.path}': {reason_of(problem)}.",
                    where=Location(os.fspath(self.path)),
                ) from None
            csv.writer(self._file).writerow(("file", "line", "column", "reason", "row"))

    def add(self, rejects: Sequence[Reject]) -> None:
        """Take some rows out, or refuse to."""
        if not rejects:
            return
        rejects = sorted(rejects, key=lambda reject: reject.place.number)
        if not self.skips:
            raise rejects[0].refused
        self.first = self.first or rejects[0]
        self.count += len(rejects)
        if self._file is not None:
            csv.writer(self._file).writerows((r.place.name, r.place.number, r.column, r.reason, r.row) for r in rejects)

    def end(self) -> None:
        """Finish a pass."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def receive(self, count: int, rejects: Sequence[Reject]) -> None:
        """Take what another pass, elsewhere, has counted; of its rows as many are listed as were kept."""
        self.begin()
        self.add(rejects)
        self.count = count
        self.end()


class KeptRejects(Rejects):
    """Rejects of a part that is read somewhere else: the first, or all of them, kept to be sent home."""

    def __init__(self, like: Rejects, keeps_all: bool) -> None:
        super().__init__("keep" if like.keeps else "skip" if like.skips else "stop")
        self.keeps_all = keeps_all
        self.listed: list[Reject] = []

    def add(self, rejects: Sequence[Reject]) -> None:
        super().add(rejects)
        self.listed += rejects if self.keeps_all else [] if self.listed else rejects[:1]
