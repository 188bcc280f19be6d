"""Bytes as readers want them: decompressed, in UTF-8, without a mark in front."""

from __future__ import annotations

import codecs
import lzma
import tempfile
import zipfile
import zlib
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from candide.data.advice import SetOption
from candide.data.errors import Location
from candide.sources.origins import File, Origin
from candide.sources.pipes import PipeReader
from candide.sources.refused import SourceRefused, reason_of

COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ\0": "xz"}
ZIP = b"PK\x03\x04"
WIDE_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
COMMON_ENCODINGS = ("latin-1", "cp1252", "utf-8", "utf-16", "mac-roman", "shift_jis", "gb18030", "big5", "koi8-r")
STEP = 1 << 20
UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
"""What those who unpack say of bytes that are damaged."""


class ByteStream:
    """The decompressed bytes of one origin, as UTF-8."""

    def __init__(self, origin: Origin, encoding: str | None = None):
        self.name = origin.name
        self._raw = origin.open()
        magic = self._raw.read(8)
        self._raw.close()
        self._raw = origin.open()
        if magic.startswith(ZIP) and encoding != "raw":
            raise SourceRefused(
                f"{self.name} is a zip archive inside another file.",
                advice="Unpack it first.",
                where=Location(self.name),
            )
        self._bytes = _decompressed(self._raw, magic)
        self._decode = _decoder(encoding)
        self._guessed = encoding is None
        self._lines = 1
        self._started = False

    def read(self, size: int) -> bytes:
        """At least `size` bytes where there are as many, fewer where a live pipe pauses; none at the end."""
        try:
            data = self._more(size)
        except UNREADABLE as problem:
            raise SourceRefused(
                f"Cannot read '{self.name}' to its end: {reason_of(problem)}. The file may be cut short or damaged.",
                where=Location(self.name),
            ) from None
        if not self._started and data:
            self._started = True
            data = self._unmarked(data) or self.read(size)
        return data

    @property
    def pauses(self) -> bool:
        """Whether more would have to be waited for: a live pipe has given all it has for now."""
        return isinstance(self._raw, PipeReader) and self._raw.pauses

    def peek(self, size: int) -> bytes:
        """The first bytes, whatever their encoding."""
        try:
            return bytes(self._bytes.read(size)).removeprefix(codecs.BOM_UTF8)
        except UNREADABLE:
            return b""

    def taken(self) -> int:
        """How many bytes of the file were needed so far."""
        return self._raw.tell()

    def close(self) -> None:
        self._raw.close()

    def _more(self, size: int) -> bytes:
        if self._decode is None:
            return bytes(self._bytes.read(size))
        parts, found = [], 0
        while found < size:
            raw = bytes(self._bytes.read(min(size, STEP)))
            part = self._as_utf8(raw)
            parts.append(part)
            found += len(part)
            if not raw or (found and self.pauses):
                break
        return b"".join(parts)

    def _as_utf8(self, raw: bytes) -> bytes:
        try:
            text = self._decode.decode(raw, not raw).encode("utf-8", "strict")
        except UnicodeError as problem:
            before = raw[: getattr(problem, "start", 0)].count(b"\n")
            raise SourceRefused(
                f"{self.name}, near line {self._lines + before:,}: {reason_of(problem)}.",
                advice=f"Choose another encoding: {', '.join(COMMON_ENCODINGS[:4])}, ...",
                where=Location(self.name, line=self._lines + before),
            ) from None
        self._lines += text.count(b"\n")
        return text

    def _unmarked(self, data: bytes) -> bytes:
        for mark, encoding in WIDE_MARKS.items():
            if self._guessed and data.startswith(mark):
                raise SourceRefused(
                    f"{self.name} is in {encoding}, not UTF-8.",
                    advice=("Say so: ", SetOption("encoding", encoding), "."),
                    where=Location(self.name),
                    expected="UTF-8",
                )
        return data.removeprefix(codecs.BOM_UTF8)


class ByteRange(NamedTuple):
    """Some whole records of a text file: from one byte to another, and the line they begin on."""

    start: int
    end: int
    line: int


class RangeStream:
    """The bytes of a range, as they are: its file needs neither unpacking nor decoding."""

    pauses = False

    def __init__(self, origin: Origin, wanted: ByteRange):
        self.name = origin.name
        self._start, self._end = wanted.start, wanted.end
        self._raw = origin.open()
        self._raw.seek(wanted.start)

    def read(self, size: int) -> bytes:
        """So many bytes, or as many as there are."""
        try:
            return self._raw.read(min(size, self._end - self._raw.tell()))
        except OSError as problem:
            raise SourceRefused(
                f"Cannot read '{self.name}' to its end: {reason_of(problem)}.", where=Location(self.name)
            ) from None

    def taken(self) -> int:
        """How many bytes were read so far."""
        return self._raw.tell() - self._start

    def close(self) -> None:
        self._raw.close()


def is_unpacked_utf8(origin: Origin, encoding: str | None) -> bool:
    """Whether the bytes of a file are the text: neither packed nor in another encoding."""
    if type(origin) is not File or _decoder(encoding) is not None:
        return False
    with origin.open() as raw:
        return compression_of(raw.read(8)) is None


def whole_file(origin: Origin) -> Any:
    """An origin as a file that can be read at any place: itself, or decompressed into a temporary file."""
    raw = origin.open()
    magic = raw.read(8)
    if isinstance(origin, File) and not compression_of(magic):
        raw.seek(0)
        return raw
    raw.close()
    copy = tempfile.TemporaryFile(prefix="candide-")  # noqa: SIM115
    stream = ByteStream(origin, "raw")
    while part := stream.read(STEP):
        copy.write(part)
    stream.close()
    copy.seek(0)
    return copy


def compression_of(magic: bytes) -> str | None:
    """The compression that the first bytes of a file tell of."""
    return next((name for start, name in COMPRESSIONS.items() if magic.startswith(start)), None)


def _decompressed(raw: BinaryIO, magic: bytes) -> Any:
    compression = compression_of(magic)
    if compression == "xz":
        return lzma.LZMAFile(raw)
    return pa.CompressedInputStream(pa.PythonFile(raw, "r"), compression) if compression else raw


def _decoder(encoding: str | None) -> Any:
    """What turns bytes into text; None where the bytes are UTF-8 (or not text at all) already."""
    if encoding in (None, "raw"):
        return None
    try:
        codec = codecs.lookup(encoding or "")
    except LookupError:
        raise SourceRefused.of_name(
            f"'{encoding}' is no encoding that Python knows.",
            str(encoding),
            COMMON_ENCODINGS,
            where=Location(value=encoding),
        ) from None
    if codec.name in ("utf-8", "utf-8-sig", "ascii"):
        return None
    return codecs.getincrementaldecoder(codec.name)()
