"""A column of text as the kernels read it: Arrow's own buffers, whatever the column came as.

Missing texts are no documents; empty ones are. A lone surrogate cannot be written in UTF-8: it is read as U+FFFD, the
replacement character, which is no word character and so separates words. Bytes that are not UTF-8 are read likewise.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.advice import SetOption
from candide.data.arrays import AnyArray, readonly
from candide.data.errors import ColumnRefused, Location
from candide.data.texts import SURROGATES, as_text
from candide.kernels.word_counting import Texts
from candide.kernels.words import mark_unsteady

NONE_MISSING = np.zeros(0, dtype=np.bool_)
NONE_MISSING.flags.writeable = False


@dataclass(frozen=True)
class Documents:
    """A column of text in one or more pieces."""

    pieces: tuple[Texts, ...]
    cuts: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)
    """The same texts in terms, by the way they were cut, as far as somebody has asked for that."""
    is_kept: bool = field(default=False, compare=False)
    """Whether others will ask for the texts once more."""

    @classmethod
    def of(cls, column: Any, name: str, strict: bool = True, lowered: bool = False) -> Documents:
        """From an Arrow array, a NumPy array or a list of strings.

        What is no text is refused, or taken as missing unless `strict`. With `lowered`, texts with capitals whose lower
        case depends on their neighbours are lower-cased by Python here, and left to the kernels otherwise.
        """
        arrays = chunks(column, name, strict)
        return cls(tuple(buffers(steadied(array) if lowered else array) for array in arrays if len(array)))

    def __len__(self) -> int:
        return sum(len(piece.offsets) - 1 for piece in self.pieces)

    @property
    def bytes_long(self) -> int:
        """How many bytes of text there are."""
        return sum(int(piece.offsets[-1] - piece.offsets[0]) for piece in self.pieces)

    def with_rows(self) -> Iterator[tuple[Texts, slice]]:
        """Each piece with the rows it holds."""
        start = 0
        for piece in self.pieces:
            stop = start + len(piece.offsets) - 1
            yield piece, slice(start, stop)
            start = stop


def chunks(column: Any, name: str, strict: bool) -> list[pa.Array]:
    """The column as Arrow arrays of strings or binaries."""
    if isinstance(column, pa.ChunkedArray):
        return [part for chunk in column.chunks for part in chunks(chunk, name, strict)]
    if not isinstance(column, pa.Array):
        return [arrow_texts(list(column), name, strict)]
    kind = column.type
    if is_plain(kind):
        return [column]
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_null(inner):
        return [pa.nulls(len(column), pa.large_string())]
    if pa.types.is_string_view(inner) or (pa.types.is_dictionary(kind) and is_plain(inner)):
        return [column.cast(pa.large_string())]
    if strict:
        raise not_text(name, str(kind))
    return [pa.nulls(len(column), pa.large_string())]


def is_plain(kind: Any) -> bool:
    """Whether the kernels can read the type as it is: offsets and bytes."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def arrow_texts(values: Sequence[Any], name: str, strict: bool) -> pa.Array:
    """Python strings as an Arrow array, with None and NaN missing and lone surrogates replaced."""
    try:
        return pa.array(values, type=pa.large_string(), from_pandas=True)
    except (UnicodeEncodeError, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return pa.array(list(cleaned(values, name, strict)), type=pa.large_string())


def cleaned(values: Iterable[Any], name: str, strict: bool) -> Iterator[str | None]:
    """The values one by one, as text that UTF-8 can write, or None."""
    for value in values:
        if isinstance(value, str):
            yield SURROGATES.sub("\ufffd", value)
        elif value is None or value != value or type(value).__name__ in ("NAType", "NaTType") or not strict:
            yield None
        else:
            raise not_text(name, f"{value!r}")


def not_text(name: str, found: str) -> ColumnRefused:
    """The sentence for a column that holds something else."""
    return ColumnRefused(
        f"Column '{name}': 'text' needs a text in every row, but it holds {found}.",
        advice=("Turn it into text, or choose another family: ", SetOption("families", "categorical", name), "."),
        where=Location(column=name, value=found),
        expected="a text in every row",
    )


def steadied(array: pa.Array) -> pa.Array:
    """The same texts, those with unsteady capitals lower-cased by Python."""
    texts = buffers(array)
    marks = np.zeros(len(array), dtype=np.bool_)
    if not mark_unsteady(texts.letters, texts.offsets, marks):
        return array
    rows = np.flatnonzero(marks)
    given = array.take(pa.array(rows)).to_pylist()
    lowered = [as_text(text).lower() if text is not None else None for text in given]
    replacements = pa.array(lowered, type=pa.large_string()).cast(pa.large_binary())
    return pc.replace_with_mask(array.cast(pa.large_binary()), pa.array(marks), replacements)


def buffers(array: pa.Array) -> Texts:
    """The offsets and bytes of an Arrow array, not copied; 32-bit offsets are widened."""
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    _, offsets, letters = array.buffers()
    width = np.int64 if wide else np.int32
    starts = np.frombuffer(offsets, dtype=width)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    return Texts(bytes_of(letters), readonly(starts), missing_rows(array))


def bytes_of(letters: pa.Buffer | None) -> AnyArray:
    """The bytes of a buffer, to be read only; one zero byte where there are none, as an array must begin somewhere."""
    return readonly(np.frombuffer(letters if letters is not None and letters.size else b"\0", dtype=np.uint8))


def missing_rows(array: pa.Array) -> AnyArray:
    """Which rows are missing; nothing where none is."""
    if not array.null_count:
        return NONE_MISSING
    return readonly(np.asarray(array.is_null().to_numpy(zero_copy_only=False)).copy())
