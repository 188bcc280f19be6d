"""Parquet and Arrow files: typed and cut already, read a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from candide.data.errors import Location
from candide.sources.arrow_types import refuse_unions
from candide.sources.origins import Origin, parts_by_file
from candide.sources.refused import SourceRefused, reason_of
from candide.sources.rejects import Place
from candide.sources.source import BATCH_ROWS, Piece, Size, Source, unnested, with_outer
from candide.sources.streams import whole_file

BATCH_BYTES = 16 << 20


@dataclass
class ColumnarSource(Source):
    """Rows of Parquet or Arrow files of the same columns."""

    origins: tuple[Origin, ...] = ()
    format: str = "parquet"
    batch_rows: int = BATCH_ROWS
    rows: int | None = None
    by_file: tuple[int | None, ...] = ()
    """How many rows each file has, where it says so."""

    @classmethod
    def of(cls, origins: tuple[Origin, ...], format: str, batch_rows: int) -> ColumnarSource:
        """Read the schemas of all files and see that they agree."""
        schemas, by_file = [], []
        for origin in origins:
            opened = _open_columnar(origin, format)
            refuse_unions(opened.schema, origin.name)
            schemas.append(unnested(opened.schema.empty_table(), origin.name).schema)
            by_file.append(opened.rows)
            opened.close()
        for origin, schema in zip(origins, schemas, strict=True):
            if set(schema.names) != set(schemas[0].names):
                odd = sorted(set(schema.names) ^ set(schemas[0].names))
                raise SourceRefused(
                    f"{origin.name} and {origins[0].name} do not have the same columns: only one has '{odd[0]}'.",
                    where=Location(origin.name, column=odd[0]),
                    expected="the same columns",
                )
        names, rows = tuple(schemas[0].names), sum(number or 0 for number in by_file) or None
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
            row = 1
            try:
                for batch in opened.batches(self.batch_rows):
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
        parts = parts_by_file(self, self.origins)
        for part, rows in zip(parts, self.by_file, strict=False):
            part.rows = rows
        return parts

    def describe(self) -> dict[str, Any]:
        files = [origin.name for origin in self.origins]
        return {"format": self.format, "files": files, "rows": self.rows, "label": self.label}


@dataclass
class _Opened:
    """One open file: its schema, its rows if known, and its batches."""

    schema: Any
    rows: int | None
    batches: Callable[[int], Iterator[Any]]
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
    total = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
    fitting = max(1, BATCH_BYTES * about.num_rows // max(total, 1))
    return _Opened(
        parquet.schema_arrow,
        about.num_rows,
        lambda rows: parquet.iter_batches(min(rows, fitting)),
        file.close,
    )


def _arrow(file: Any) -> _Opened:
    """An Arrow file (Feather is one), or an Arrow stream."""
    start = file.read(6)
    file.seek(0)
    if start == b"ARROW1":
        reader = pa_ipc.open_file(file)
        found = (reader.get_batch(index) for index in range(reader.num_record_batches))
        return _Opened(reader.schema, None, lambda rows: _sliced(found, rows), file.close)
    stream = pa_ipc.open_stream(file)
    return _Opened(stream.schema, None, lambda rows: _sliced(iter(stream), rows), file.close)


def _sliced(batches: Iterator[Any], rows: int) -> Iterator[Any]:
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows)


def _place(name: str, first: int) -> Callable[[int], Place]:
    return lambda row: Place(name, "row", first + row)
