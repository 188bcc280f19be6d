"""Bytes made smaller on their way to a file: gzip, zstd, bzip2 or xz, by the end of its name."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

GZIP = 16 + zlib.MAX_WBITS


class Compressor(Protocol):
    """What takes bytes and gives fewer, some of them only at the end."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class Zstd:
    """Zstandard, by Arrow, which writes to a file: here to one that is emptied after every piece."""

    closed = False

    def __init__(self) -> None:
        import pyarrow as pa

        self._parts: list[bytes] = []
        self._stream: Any = pa.CompressedOutputStream(pa.PythonFile(self, "w"), "zstd")

    def compress(self, data: bytes) -> bytes:
        self._stream.write(data)
        return self._emptied()

    def flush(self) -> bytes:
        """What is left; Arrow also flushes the file it writes to, which has nothing to do then."""
        if not self._stream.closed:
            self._stream.close()
        return self._emptied()

    def write(self, data: Any) -> int:
        """What Arrow calls."""
        self._parts.append(bytes(data))
        return len(data)

    def close(self) -> None:
        """Nothing is open."""

    def _emptied(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _bz2() -> Compressor:
    import bz2

    return bz2.BZ2Compressor()


def _xz() -> Compressor:
    import lzma

    return lzma.LZMACompressor()


COMPRESSORS: dict[str, Callable[[], Compressor]] = {
    ".gz": lambda: zlib.compressobj(wbits=GZIP),
    ".zst": Zstd,
    ".bz2": _bz2,
    ".xz": _xz,
}


def stem_of(name: str) -> str:
    """The name of what is inside: answers.csv.gz holds answers.csv.

    >>> stem_of("answers.csv.gz"), stem_of("answers.csv")
    ('answers.csv', 'answers.csv')
    """
    stem, ending = os.path.splitext(name)
    return stem if ending.lower() in COMPRESSORS else name


def compressed(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The pieces as the file's name asks; equal pieces give equal bytes, since no time is written."""
    ending = os.path.splitext(name)[1].lower()
    if ending not in COMPRESSORS:
        yield from pieces
        return
    compressor = COMPRESSORS[ending]()
    for piece in pieces:
        yield compressor.compress(bytes(piece))
    yield compressor.flush()
