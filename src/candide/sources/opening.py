"""From what a user names (a path, some paths, a glob, "-", a frame) to the source that reads it."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from candide.data.advice import NamedOption, SetOption
from candide.data.errors import Location, suggestion
from candide.sources.archives import unpacked
from candide.sources.blocks import LONGEST_RECORD
from candide.sources.formats import FORMATS, format_of
from candide.sources.kinds import TEXT, ParseOptions, kinds_given
from candide.sources.mixed import MIXED
from candide.sources.origins import File, Origin, origin_of
from candide.sources.pipes import Pipe
from candide.sources.refused import SourceRefused
from candide.sources.rejects import KEEP, Rejects
from candide.sources.selection import Selection
from candide.sources.source import BATCH_ROWS, Source

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def open_source(
    paths: Any,
    *,
    label: str | None = None,
    labelled: bool = True,
    format: str | None = None,
    delimiter: str | None = None,
    types: Mapping[str, str] | None = None,
    expected: Mapping[str, str] | None = None,
    encoding: str | None = None,
    na: str | Sequence[str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    on_error: str = "stop",
    rejects: str | os.PathLike[str] | None = None,
    sql: str | None = None,
    table: str | None = None,
    follow_links: bool = False,
    columns: str | Sequence[str] | None = None,
    where: str | None = None,
    repeatable: bool = True,
    batch_bytes: int = 2 << 20,
    batch_rows: int = BATCH_ROWS,
) -> Source:
    """Open files, a folder, a database, standard input or a frame as batches in bounded memory.

    Format, delimiter, names and types are decided here, from the first megabyte. `labelled=False` is for rows to
    predict: no label is needed, and a label column is left out of the features where there is one.
    `expected` says what a model knows columns as: delimited text is read so where it can be, and columns that are not
    there do not matter. `na` are words that mean a value is missing, beside the usual ones; `decimal` and `thousands`
    are the marks in numbers of delimited text, found out column by column unless given. `columns` are the only ones
    wanted, beside the label, and `where` is a condition that rows must meet (`candide.sources.where`).
    `repeatable=False` lets standard input or another pipe be read once, as it comes, without keeping a copy on disk.

    >>> source = open_source({"age": [31, 20], "sex": ["f", "m"], "survived": ["yes", "no"]}, label="survived")
    >>> source.names, [len(batch) for batch in source.batches()]
    (('age', 'sex'), [2])
    """
    if not 1 <= batch_bytes <= LONGEST_RECORD or batch_rows < 1:
        raise SourceRefused(f"A batch has from 1 to {LONGEST_RECORD} bytes, and at least 1 row.")
    if format is not None and format not in FORMATS:
        raise SourceRefused.of_name(f"'{format}' is no format.", format, FORMATS)
    kept_out, parsing = Rejects(on_error, rejects), ParseOptions.of(na, decimal, thousands)
    if kept_out.keeps and labelled:
        raise SourceRefused(KEEP, " is for predict: what cannot be read cannot be learned.")
    selection = Selection.of(columns, where)
    expected = selection.expecting(expected, label)
    mixed = frozenset(name for name, kind in (expected or {}).items() if kind == MIXED) - {*(types or ())}
    if expected is not None and mixed:
        expected = copy(expected)  # which may answer for columns that it does not name
        expected.update(dict.fromkeys(mixed, TEXT.name))  # type: ignore[attr-defined]
    if _are_paths(paths):
        names, notes = expanded(paths)
        origins = tuple(part for name in names for part in unpacked(origin_of(name, repeatable)))
        format = {"json": "jsonl"}.get(format, format) if format else format_of(origins)
        _refuse_options(format, delimiter, encoding, sql, table, follow_links, parsing)
        source = _open_origins(
            origins, format, labelled, delimiter, types, expected, encoding, sql, table, follow_links, batch_bytes,
            batch_rows, parsing,
        )  # fmt: skip
        source.notes += notes
        source.name = origins[0].name if len(origins) == 1 else f"Each of the {len(origins)} files"
    else:
        _refuse_options("memory", delimiter, encoding, sql, table, follow_links, parsing)
        if types or parsing.na:
            raise SourceRefused(
                NamedOption("types"), " and ", NamedOption("na"), " are for files.",
                advice="Change the columns of a table in memory beforehand.",
            )
        from candide.sources.memory import MemorySource

        source = MemorySource.of(paths, batch_rows)
        format = "memory"
    source.label, source.labelled, source.rejects = label or source.label, labelled, kept_out
    if format not in ("csv", "tsv"):
        source.kinds, source.na = kinds_given(types, source.columns), parsing.na
    source.known, source.mixed = frozenset(expected or ()), mixed
    source.refuse_missing_label()
    source.narrow(selection)
    return source


def expanded(paths: Paths) -> tuple[list[str], tuple[str, ...]]:
    """The files that paths and globs stand for, each of which exists, and what the globs left out."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise SourceRefused("No file was named.", advice="Name one.")
    found: list[str] = []
    notes: list[str] = []
    for path in [os.fspath(one) for one in given]:
        if path == "-" or os.path.exists(path):
            found.append(path)
        elif glob.has_magic(path):
            matches, said = _matching(path)
            found += matches
            notes += said
        else:
            raise SourceRefused(f"There is no file '{path}'.", advice=_near(path), where=Location(path))
    if len(found) > 1 and "-" in found:
        raise SourceRefused("Standard input ('-') cannot be read together with files.")
    return found, tuple(notes)


def _matching(pattern: str) -> tuple[list[str], list[str]]:
    """The files of a glob. A pipe is only read where it is named itself: its bytes may never come."""
    matches = sorted(match for match in glob.glob(pattern, recursive=True) if not os.path.isdir(match))
    files = [match for match in matches if os.path.isfile(match)]
    others = [match for match in matches if not os.path.isfile(match)]
    said = [f"'{path}' was left out: it is no file, but a pipe, a device or a link to nowhere." for path in others]
    if not files:
        raise SourceRefused(
            " ".join([f"No file matches '{pattern}' in {os.path.abspath(os.curdir)}.", *said]), where=Location(pattern)
        )
    return files, said


def _near(path: str) -> str:
    folder = os.path.dirname(path) or os.curdir
    if not os.path.isdir(folder):
        return f"There is no folder '{folder}' either."
    names = sorted(os.listdir(folder))
    return suggestion(os.path.basename(path), names) if names else ""


def _are_paths(given: Any) -> bool:
    if isinstance(given, (str, os.PathLike)):
        return True
    return isinstance(given, (list, tuple)) and all(isinstance(part, (str, os.PathLike)) for part in given)


def _open_origins(
    origins: tuple[Origin, ...],
    format: str,
    labelled: bool,
    delimiter: str | None,
    types: Mapping[str, str] | None,
    expected: Mapping[str, str] | None,
    encoding: str | None,
    sql: str | None,
    table: str | None,
    follow_links: bool,
    batch_bytes: int,
    batch_rows: int,
    parsing: ParseOptions,
) -> Source:
    """The source for a format; each reader is imported only when it is needed, since some take long to load."""
    if format in ("csv", "tsv", "jsonl"):
        return _opened_records(origins, format, delimiter, types, expected, encoding, batch_bytes, parsing)
    if format in ("parquet", "arrow"):
        from candide.sources.columnar import ColumnarSource

        return ColumnarSource.of(origins, format, batch_rows)
    if len(origins) > 1:
        raise SourceRefused(f"One {format} is read at a time, but {len(origins)} were named.")
    if not isinstance(origins[0], File):
        place = "which is a pipe" if isinstance(origins[0], Pipe) else "which is in an archive"
        raise SourceRefused(
            f"A {format} cannot be read from {origins[0].name}, {place}.",
            advice="Give the path of a file.",
            where=Location(origins[0].name),
            expected="the path of a file",
        )
    if format == "folder":
        from candide.sources.folder import FolderSource

        return FolderSource.of(origins[0].name, labelled, encoding, batch_bytes, follow_links)
    if format == "sqlite":
        from candide.sources.sqlite import SqliteSource

        return SqliteSource.of(origins[0].name, sql, table)
    from candide.sources.duck import DuckSource

    return DuckSource.of(origins[0].name, sql, table, batch_rows)


def _opened_records(
    origins: tuple[Origin, ...],
    format: str,
    delimiter: str | None,
    types: Mapping[str, str] | None,
    expected: Mapping[str, str] | None,
    encoding: str | None,
    batch_bytes: int,
    parsing: ParseOptions,
) -> Source:
    from candide.sources.file_source import FileSource, RecordReader

    reader: RecordReader
    if format == "jsonl":
        from candide.sources.json_array import JsonArray, begins_with_list
        from candide.sources.json_lines import JsonLines

        reader = (JsonArray if begins_with_list(origins, encoding) else JsonLines).of(origins, encoding)
    else:
        from candide.sources.delimited import Delimited

        delimiter = delimiter or ("\t" if format == "tsv" else None)
        reader = Delimited.of(origins, delimiter, types, encoding, expected, parsing)
    return FileSource(reader.columns, origins=origins, reader=reader, encoding=encoding, batch_bytes=batch_bytes)


def _refuse_options(
    format: str,
    delimiter: str | None,
    encoding: str | None,
    sql: str | None,
    table: str | None,
    follow_links: bool,
    parsing: ParseOptions,
) -> None:
    """Nothing is silently ignored."""
    if delimiter is not None and format not in ("csv", "tsv"):
        raise SourceRefused(f"A delimiter is for csv and tsv; this is {format}.")
    if parsing.has_number_format and format not in ("csv", "tsv"):
        raise SourceRefused(
            NamedOption("decimal"), " and ", NamedOption("thousands"), f" are for csv and tsv; this is {format}.",
            advice=("Show how numbers of a column are written: ", SetOption("types", "number 1.234,5", "price"), "."),
        )
    if encoding is not None and format not in ("csv", "tsv", "jsonl", "folder"):
        raise SourceRefused(f"An encoding is for text files; this is {format}.")
    if (sql is not None or table is not None) and format not in ("sqlite", "duckdb"):
        raise SourceRefused(f"A table or a query is for databases; this is {format}.")
    if follow_links and format != "folder":
        raise SourceRefused(
            "Links are followed in folders (", NamedOption("follow_links"), f"); this is {format}."
        )
