"""Parquet and Arrow files: typed and cut already, read a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from candide.data.errors import Location
from candide.sources.arrow_types import refuse_unions
from candide.sources.origins import PART_BYTES, Origin, parts_by_file
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place
from candide.sources.source import BATCH_ROWS, Piece, Size, Source, unnested, with_outer
from candide.sources.streams import whole_file

BATCH_BYTES = 16 << 20


class RowGroup(NamedTuple):
    """A stretch of a file that can be read by itself: how many rows and bytes, and where it begins."""

    rows: int
    nbytes: int
    number: int = 0
    first_row: int = 0


Stretch = tuple[RowGroup, ...]
"""Row groups of a file that follow one another."""


@dataclass
class ColumnarSource(Source):
    """Rows of Parquet or Arrow files of the same columns."""

    origins: tuple[Origin, ...] = ()
    format: str = "parquet"
    batch_rows: int = BATCH_ROWS
    rows: int | None = None
    by_file: tuple[Stretch, ...] = ()
    """The row groups of each file, where it tells of them."""
    stretch: Stretch = ()
    """The only ones wanted; all rows where there are none."""

    @classmethod
    def of(cls, origins: tuple[Origin, ...], format: str, batch_rows: int) -> ColumnarSource:
        """Read the schemas of all files and see that they agree."""
        schemas, by_file = [], []
        for origin in origins:
            opened = _open_columnar(origin, format)
            refuse_unions(opened.schema, origin.name)
            schemas.append(unnested(opened.schema.empty_table(), origin.name).schema)
            by_file.append(opened.groups)
            opened.close()
        for origin, schema in zip(origins, schemas, strict=True):
            if set(schema.names) != set(schemas[0].names):
                odd = sorted(set(schema.names) ^ set(schemas[0].names))
                raise SourceRefused(
                    f"{origin.name} and {origins[0].name} do not have the same columns: only one has '{odd[0]}'.",
                    where=Location(origin.name, column=odd[0]),
                    expected="the same columns",
                )
        names, rows = tuple(schemas[0].names), sum(group.rows for groups in by_file for group in groups) or None
        return cls(
            columns=names, origins=origins, format=format, batch_rows=batch_rows, rows=rows, by_file=tuple(by_file)
        )

    @property
    def returned(self) -> tuple[str, ...]:
        return with_outer(self.columns)

    @property
    def size(self) -> Size:
        return Size(self.rows, "rows")

    def pieces(self) -> Iterator[Piece]:
        for origin in self.origins:
            opened = _open_columnar(origin, self.format)
            row = 1 + (self.stretch[0].first_row if self.stretch else 0)
            try:
                for batch in opened.batches(self.batch_rows, self.stretch):
                    yield Piece.of(batch.select(opened.schema.names), _place(origin.name, row), batch.num_rows)
                    row += batch.num_rows
            except (pa.ArrowException, OSError) as problem:
                raise SourceRefused(
                    f"{origin.name}, after row {row - 1:,}: {reason_of(problem)}. The file may be damaged.",
                    where=Location(origin.name, row - 1),
                ) from None
            finally:
                opened.close()

    def parts(self) -> Sequence[Source]:
        """Each file, or stretches of its row groups where it is large: one file keeps many workers busy."""
        found = list[Source]()
        for part, groups in zip(parts_by_file(self, self.origins), self.by_file, strict=False):
            for stretch in stretches(groups):
                one = copy(part)
                one.rows, one.stretch, one.by_file = sum(group.rows for group in stretch) or None, stretch, ()
                found.append(one)
        return found

    def describe(self) -> dict[str, Any]:
        files = [origin.name for origin in self.origins]
        return {"format": self.format, "files": files, "rows": self.rows, "label": self.label}


def stretches(groups: Stretch) -> list[Stretch]:
    """Row groups that follow one another, as many together as fill a part; one of none where a file tells of none.

    >>> [len(stretch) for stretch in stretches((RowGroup(9, PART_BYTES // 2),) * 5)]
    [2, 2, 1]
    """
    found, nbytes = list[list[RowGroup]]([[]]), 0
    for group in groups:
        if nbytes >= PART_BYTES:
            found.append([])
            nbytes = 0
        found[-1].append(group)
        nbytes += group.nbytes
    return [tuple(stretch) for stretch in found]


@dataclass
class _Opened:
    """One open file: its schema, its row groups if it has such, and the batches of some of them, or of all."""

    schema: Any
    groups: Stretch
    batches: Callable[[int, Stretch], Iterator[Any]]
    close: Callable[[], None]


def _open_columnar(origin: Origin, format: str) -> _Opened:
    file = whole_file(origin)
    try:
        return _parquet(file) if format == "parquet" else _arrow(file)
    except (pa.ArrowException, OSError) as problem:
        file.close()
        raise SourceRefused(
            f"{origin.name} cannot be read as {format}: {reason_of(problem)}.",
            advice="If it is another format, name it.",
            where=Location(origin.name),
            expected=format,
        ) from None


def _parquet(file: Any) -> _Opened:
    """A Parquet file, read page by page: a row group may be larger than memory."""
    parquet = pa_parquet.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
    about = parquet.metadata
    groups, first_row = list[RowGroup](), 0
    for number in range(about.num_row_groups):
        group = about.row_group(number)
        groups.append(RowGroup(group.num_rows, group.total_byte_size, number, first_row))
        first_row += group.num_rows
    fitting = max(1, BATCH_BYTES * about.num_rows // max(sum(group.nbytes for group in groups), 1))

    def batches(rows: int, wanted: Stretch) -> Iterator[Any]:
        numbers = [group.number for group in wanted or groups]
        return parquet.iter_batches(min(rows, fitting), row_groups=numbers)

    return _Opened(parquet.schema_arrow, tuple(groups), batches, file.close)


def _arrow(file: Any) -> _Opened:
    """An Arrow file (Feather is one), or an Arrow stream."""
    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        reader = pa_ipc.open_file(file)
        found = (reader.get_batch(index) for index in range(reader.num_record_batches))
        return _Opened(reader.schema, (), lambda rows, _: _sliced(found, rows), file.close)
    stream = pa_ipc.open_stream(file)
    return _Opened(stream.schema, (), lambda rows, _: _sliced(iter(stream), rows), file.close)


def _sliced(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def _place(name: str, first: int) -> Callable[[int], Place]:
    return lambda row: Place(name, "row", first + row)
