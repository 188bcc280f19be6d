"""Anything that yields batches in bounded memory, as often as asked."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.arrays import AnyArray
from candide.data.batch import ArrowColumns, Batch
from candide.data.errors import ColumnRefused, Location
from candide.data.progress import Report as Report
from candide.data.progress import Size as Size
from candide.data.values import Coded
from candide.sources.ahead import Pause
from candide.sources.arrow_types import duration, nested, simplified
from candide.sources.kinds import TEXT, Kind, as_kind, is_text, one_chunk
from candide.sources.mixed import with_numbers
from candide.sources.originals import OriginalRows
from candide.sources.refused import SourceRefused
from candide.sources.rejects import NO_LABEL, Place, Reject, Rejects, misfit
from candide.sources.selection import Selection

BATCH_ROWS = 1 << 15


@dataclass(frozen=True)
class Piece:
    """Some rows as they come from a reader, label column and all.

    `taken` is how much of the source's `size` was read to get them; `place` says where a row is and `row` how it
    reads, for errors only. `rejects` are rows the reader already took out; `original` has them all as they were.
    """

    names: tuple[str, ...]
    columns: tuple[Any, ...]
    length: int
    place: Callable[[int], Place]
    taken: int = 0
    rejects: tuple[Reject, ...] = ()
    row: Callable[[int], str] | None = None
    original: OriginalRows | None = None

    @classmethod
    def of(cls, table: Any, place: Callable[[int], Place], taken: int = 0) -> Piece:
        """A piece of an Arrow table or record batch; nested columns get dotted names."""
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        original = OriginalRows(table.num_rows, lambda: table)
        flattened = unnested(table, place(0).name)
        columns = tuple(one_chunk(column) for column in flattened.columns)
        return cls(tuple(flattened.column_names), columns, table.num_rows, place, taken, original=original)

    def text(self, row: int) -> str:
        """A row as text, for the file of rejects."""
        if self.row is not None:
            return self.row(row)
        values = {n: c[row] for n, c in zip(self.names, self.columns, strict=True)}
        return json.dumps({n: v.as_py() if isinstance(v, pa.Scalar) else v for n, v in values.items()}, default=str)

    def without(self, leave: AnyArray, rejects: Sequence[Reject]) -> Piece:
        """The other rows, with the reasons why some are left out."""
        keep = np.flatnonzero(~leave)
        wanted = pa.array(keep)
        return Piece(
            self.names,
            tuple(column.take(wanted) for column in self.columns),
            len(keep),
            lambda row: self.place(int(keep[row])),
            self.taken,
            (*self.rejects, *rejects),
            lambda row: self.text(int(keep[row])),
            None if self.original is None else self.original.take(keep),
        )

    def where(self, wanted: AnyArray) -> Piece:
        """The rows that are wanted, as if there were no others."""
        original = self.original.where(wanted) if self.original is not None else None
        return replace(self.without(~wanted, ()), original=original)

    def column(self, name: str) -> Any:
        return self.columns[self.names.index(name)]


def unnested(table: Any, whose: str) -> Any:
    """A table whose nested columns are columns of their own: {"a": {"b": 1}} is column `a.b`."""
    table = simplified(table)
    while any(pa.types.is_struct(column.type) for column in table.columns):
        table = simplified(table.flatten())
    refuse_repeats(table.column_names, whose)
    return table


def with_outer(names: Sequence[str]) -> tuple[str, ...]:
    """Dotted names, and the names of the columns they are parts of.

    >>> with_outer(["id", "price.net", "price.paid"])
    ('id', 'price.net', 'price.paid', 'price')
    """
    return tuple(dict.fromkeys([*names, *(name.split(".")[0] for name in names)]))


def refuse_repeats(names: Sequence[str], whose: str) -> None:
    """Two columns of one name cannot be told apart."""
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        listed = ", ".join(f"'{name}'" for name in repeated[:12]) + (", ..." if len(repeated) > 12 else "")
        raise SourceRefused(
            f"{whose} has more than one column named {listed}.",
            advice="Rename them in the header.",
            where=Location(whose, column=repeated[0]),
        )


@dataclass(frozen=True)
class ClusterPass:
    """One pass of a cluster over all rows: what it was for, in how many parts, and the bytes that they left."""

    work: str
    parts: int
    nbytes: int


@dataclass
class Source(ABC):
    """Rows from somewhere, with what is known of them beforehand.

    `columns` are all names in the file; `names` those that are features, without the label. The features of a
    batch may differ from `names` only where the format allows it: a key that JSON lines bring in later. `known` are
    columns that a model looks at, and `selection` what is wanted of all that is there. `notes` are sentences on what
    was left out when the source was opened.
    """

    columns: tuple[str, ...] = ()
    label: str | None = None
    labelled: bool = True
    keeps_unlabelled: bool = False
    """Whether rows whose label is missing are among the batches."""
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    na: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()
    selection: Selection = field(default_factory=Selection)
    rejects: Rejects = field(default_factory=Rejects)
    name: str = ""
    notes: tuple[str, ...] = ()
    mixed: frozenset[str] = frozenset()
    """Columns read as text in which numbers are to be numbers all the same."""
    may_be_empty: bool = False
    """Whether it is a part of something, which may have rows elsewhere."""
    unwanted: int = 0
    """How many rows of the latest pass did not meet the condition."""
    passes: list[ClusterPass] = field(default_factory=list)
    """What was done with the rows where they lie, by an engine of a cluster."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name != self.label)

    @property
    def returned(self) -> tuple[str, ...]:
        """The names of the columns as they come back beside answers."""
        return self.columns

    @property
    @abstractmethod
    def size(self) -> Size:
        """How much there is to read in one pass."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece | Pause]:
        """One pass over the rows, as the format gives them; a live pipe also says when it pauses."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Where the rows come from and how they are read, as plain data for provenance."""

    def batches(self, report: Report | None = None) -> Iterator[Batch]:
        """One pass over the rows; `report` is told how much of `size` each batch took.

        Only a live pipe gives a batch without rows: no more have come for now.
        """
        self.rejects.begin()
        start = self.unwanted = 0
        pieces = self.pieces()
        try:
            for piece in pieces:
                if isinstance(piece, Pause):
                    yield Batch(ArrowColumns((), (), 0))
                    continue
                piece = self._selected(piece)
                self._refuse_nested(piece)
                batch = with_numbers(self._batch(self._labelled(self._retyped(piece)), start), self.mixed)
                start += len(batch)
                if report is not None:
                    report(piece.taken)
                if len(batch) or (self.rejects.keeps and batch.original is not None):
                    yield batch
        finally:
            if hasattr(pieces, "close"):
                pieces.close()
            self.rejects.end()
        self.refuse_nothing_left(start)

    @property
    def read_as(self) -> Mapping[str, Kind]:
        """What columns were read as, where that was decided or asked for."""
        return self.kinds

    def refuse_missing_label(self) -> None:
        """Raise where the label column asked for is not there."""
        if self.labelled and self.label is not None and self.label not in self.columns:
            raise ColumnRefused.of_name(
                f"{self.name} has no column '{self.label}' to learn as the label.",
                self.label,
                self.columns,
                where=Location(self.name, column=self.label),
            )

    def refuse_nothing_left(self, rows: int) -> None:
        """Raise where a pass has found no rows, unless there may be some elsewhere."""
        if not rows and not self.may_be_empty and not (self.rejects.keeps and self.rejects.count):
            raise SourceRefused(self._nothing_left(), where=Location(self.name))

    def parts(self) -> Sequence[Source]:
        """The same rows in several sources, each of which can be read somewhere else; none where they cannot be."""
        return ()

    def narrow(self, selection: Selection) -> None:
        """From now on, only some columns and rows."""
        self.selection = selection
        self.columns = selection.kept(self.columns, self.label, self.name)

    def _selected(self, piece: Piece) -> Piece:
        """The rows and columns of a piece that are wanted."""
        if (where := self.selection.where) is not None:
            columns = dict(zip(piece.names, piece.columns, strict=True))
            wanted = where.holds(piece.length, columns.get, self.name)
            self.unwanted += piece.length - int(wanted.sum())
            piece = piece if wanted.all() else piece.where(wanted)
        if self.selection.columns is None:
            return piece
        kept = [index for index, name in enumerate(piece.names) if name in set(self.columns)]
        names, columns_ = (tuple(some[index] for index in kept) for some in (piece.names, piece.columns))
        original = piece.original.select(self.columns) if piece.original is not None else None
        return replace(piece, names=names, columns=columns_, original=original)

    def _refuse_nested(self, piece: Piece) -> None:
        """Raise where a column that is needed holds no single values."""
        needed = self.known | set(self.kinds) | ({self.label} if self.labelled else set())
        for name, column in zip(piece.names, piece.columns, strict=True):
            if name in needed and (held := nested(column.type) or (name == self.label and duration(column.type))):
                raise ColumnRefused(
                    f"{piece.place(0)}: column '{name}' holds {held}, but one value a row is needed: text, a number, "
                    "a truth value or a date.",
                    advice="Give it such values, or several columns of them.",
                    where=Location(self.name, column=name),
                    expected="one value a row",
                )

    def _nothing_left(self) -> str:
        if self.selection.where is not None and self.unwanted:
            return f"{self.name}: none of {self.unwanted:,} rows is one where {self.selection.where.said}."
        if self.rejects.first is None:
            return f"{self.name} has no rows."
        return (
            f"{self.name}: no rows are left, all {self.rejects.count:,} were skipped. The first: "
            f"{self.rejects.first.place}: {self.rejects.first.reason}"
        )

    def _retyped(self, piece: Piece) -> Piece:
        """The columns a user gave a type by hand, in that type; text without the words that mean missing."""
        if not self.kinds and not self.na:
            return piece
        columns, leave, rejects = list(piece.columns), np.zeros(piece.length, dtype=bool), []
        for index, name in enumerate(piece.names):
            if name not in self.kinds and not (self.na and is_text(columns[index].type)):
                continue
            kind = replace(self.kinds.get(name, TEXT), na=self.na)
            columns[index], misfits = as_kind(piece.columns[index], kind)
            for row in np.flatnonzero(misfits & ~leave).tolist():
                value = piece.columns[index][row].as_py()
                rejects.append(misfit(piece.place(row), name, value, kind.example, piece.text(row)))
            leave |= misfits
        typed = replace(piece, columns=tuple(columns))
        return typed.without(leave, rejects) if leave.any() else typed

    def _labelled(self, piece: Piece) -> tuple[Piece, Coded | None]:
        """The rows that have a label, and their labels."""
        if self.label is None or not self.labelled:
            self.rejects.add(piece.rejects)
            return piece, None
        if self.label not in piece.names:
            nothing = pa.nulls(piece.length)
            piece = replace(piece, names=(*piece.names, self.label), columns=(*piece.columns, nothing))
        labels = Coded.of(piece.column(self.label))
        missing = labels.codes < 0
        if missing.any() and not self.keeps_unlabelled:
            piece = piece.without(missing, self._no_labels(piece, missing))
            labels = labels[~missing]
        self.rejects.add(piece.rejects)
        return piece, labels

    def _no_labels(self, piece: Piece, missing: AnyArray) -> list[Reject]:
        rows = np.flatnonzero(missing).tolist()
        if not self.rejects.skips:
            others = f", as have {len(rows) - 1:,} of the {piece.length:,} rows around it" if len(rows) > 1 else ""
            advice = NO_LABEL
            return [Reject(piece.place(rows[0]), f"the row has no label in column '{self.label}'{others}.", advice)]
        reason = f"the row has no label in column '{self.label}'."
        return [Reject(piece.place(row), reason, "", self.label or "", piece.text(row)) for row in rows]

    def _batch(self, found: tuple[Piece, Coded | None], start: int) -> Batch:
        piece, labels = found
        kept = [index for index, name in enumerate(piece.names) if name != self.label]
        names = tuple(piece.names[index] for index in kept)
        columns = ArrowColumns(names, tuple(piece.columns[index] for index in kept), piece.length)
        return Batch(columns, labels, None, start, piece.original)
