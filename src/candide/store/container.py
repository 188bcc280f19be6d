"""Texts and arrays in one safetensors file, with every byte under a checksum.

The file is read here and not by the safetensors package, to refuse more (the package takes duplicate names, and has
no checksums), to write without a second copy in memory, and to start faster. Any safetensors reader can open it.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from candide.data.advice import Install
from candide.data.arrays import AnyArray
from candide.data.errors import CandideError
from candide.store.refusals import ModelFileRefused

VERSION = 2
"""What files are read up to. Format 2 has words of text in as few bytes as do; what has none is still in format 1."""
LARGEST_HEAD = 100_000_000
"""Bytes; what the safetensors format allows."""

MOST_AXES, LONGEST_AXIS = 8, 2**48
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
METADATA = "__metadata__"
MAGIC = b'{"__metadata__":{"candide":"'
OPENING = re.compile(rb'\{"__metadata__":\{"candide":"([0-9]{1,9})","checksum":"([0-9a-f]{64})","checksums":')
NO_CHECKSUM = "0" * 64

Buffer = Any
"""Bytes, or anything with the buffer protocol such as a memory map."""


def container_pieces(texts: Mapping[str, str], arrays: Mapping[str, AnyArray], version: int = 1) -> list[Buffer]:
    """The file as pieces to be written one after the other; the arrays are not copied."""
    flat = {name: as_stored(array) for name, array in arrays.items()}
    order = sorted(flat, key=lambda name: (-flat[name].itemsize, name))
    checksums = {name: digest(flat[name]) for name in order}
    opening = {"candide": str(version), "checksum": NO_CHECKSUM, "checksums": to_json(checksums)}
    head: dict[str, Any] = {METADATA: {**opening, **texts}}
    end = 0
    for name in order:
        start, end = end, end + flat[name].nbytes
        head[name] = {
            "data_offsets": [start, end],
            "dtype": NAMES[flat[name].dtype],
            "shape": list(flat[name].shape),
        }
    filled = (flat[name] for name in order if flat[name].size)
    return [head_with_checksum(head), *(array.reshape(-1).view(np.uint8).data for array in filled)]


def contents(data: Buffer) -> tuple[dict[str, str], dict[str, AnyArray]]:
    """The texts and arrays of a file; anything unexpected is refused. Arrays are views of `data`, read-only."""
    view = memoryview(data).cast("B").toreadonly()
    raw, body = split_head(view)
    verify(raw)
    head = from_json(raw[8:].decode("ascii"))
    metadata = head.pop(METADATA)
    checksums = from_json(metadata.pop("checksums"))
    if set(checksums) != set(head):
        raise ModelFileRefused("its list of checksums does not match its arrays")
    arrays = arrays_in(head, body)
    for name, array in arrays.items():
        if digest(array) != checksums[name]:
            raise ModelFileRefused(f"the checksum of its array '{name}' does not match, so bytes were changed or lost")
    return {name: text for name, text in metadata.items() if name not in ("candide", "checksum")}, arrays


def split_head(view: memoryview) -> tuple[bytes, memoryview]:
    """The head with its length in front, and the bytes of the arrays."""
    if len(view) < 8:
        raise ModelFileRefused(f"it has only {len(view)} bytes" if len(view) else "it is empty")
    size = 8 + int.from_bytes(view[:8], "little")
    if not MAGIC.startswith(bytes(view[8 : 8 + len(MAGIC)])):
        raise ModelFileRefused("it does not begin like one, so it is something else or its first bytes were changed")
    if size > 8 + LARGEST_HEAD:
        raise ModelFileRefused(f"it claims a head of {size - 8} bytes, more than the {LARGEST_HEAD} allowed")
    if size > len(view):
        raise ModelFileRefused(f"it is cut short: its head needs {size} bytes, the whole has {len(view)}")
    return bytes(view[:size]), view[size:]


def verify(raw: bytes) -> None:
    """Refuse a head of another version, or one whose checksum does not match."""
    opening = OPENING.match(raw, 8)
    if opening is None:
        raise ModelFileRefused("its first bytes were changed")
    version = int(opening[1])
    if version > VERSION:
        raise ModelFileRefused(
            f"it was written by a newer Candide, in format {version}, and this one reads up to format {VERSION}.",
            advice=("Upgrade with: ", Install("candide", upgrade=True)),
        )
    if opening[1] != b"%d" % version or version < 1:
        raise ModelFileRefused(f"there is no format {opening[1].decode()}")
    unsigned = raw[: opening.start(2)] + NO_CHECKSUM.encode() + raw[opening.end(2) :]
    if hashlib.sha256(unsigned).hexdigest().encode() != opening[2]:
        raise ModelFileRefused("the checksum of its head does not match, so bytes were changed or lost")


def head_with_checksum(head: dict[str, Any]) -> bytes:
    """The head as it stands in the file: its length, and its JSON text with the checksum filled in."""
    text = to_json(head)
    text += " " * (-len(text) % 8)
    if len(text) > LARGEST_HEAD:
        raise CandideError(f"The names of columns and the options need {len(text)} bytes; a file takes {LARGEST_HEAD}.")
    raw = len(text).to_bytes(8, "little") + text.encode("ascii")
    opening = OPENING.match(raw, 8)
    assert opening is not None
    checksum = hashlib.sha256(raw).hexdigest().encode()
    return raw[: opening.start(2)] + checksum + raw[opening.end(2) :]


def arrays_in(head: Mapping[str, Any], body: memoryview) -> dict[str, AnyArray]:
    """Each array at its place; they must fill the body without gap, overlap or rest."""
    arrays, end = {}, 0
    for name, entry in sorted(head.items(), key=lambda item: (item[1]["data_offsets"], item[0])):
        start, stop = (checked_length(offset) for offset in entry["data_offsets"])
        dtype, shape = DTYPES[entry["dtype"]], tuple(checked_length(length) for length in entry["shape"])
        if len(entry) != 3 or len(shape) > MOST_AXES or max(shape, default=0) > LONGEST_AXIS:
            raise ModelFileRefused(f"its array '{name}' has an impossible shape")
        if start != end or stop - start != math.prod(shape) * dtype.itemsize or start % dtype.itemsize:
            raise ModelFileRefused(f"its array '{name}' is not where or not as long as its shape says")
        if stop > len(body):
            raise ModelFileRefused(f"it is cut short: its arrays need {stop} bytes or more, {len(body)} are there")
        arrays[name] = array_view(body[start:stop], dtype, shape)
        end = stop
    if end != len(body):
        raise ModelFileRefused(f"{len(body) - end} bytes follow its last array")
    return arrays


def checked_length(number: Any) -> int:
    """A whole number from zero up, and nothing that only looks like one."""
    if type(number) is not int or number < 0:
        raise ModelFileRefused(f"{reprlib.repr(number)} stands where a length or a place belongs")
    return number


def as_stored(array: AnyArray) -> AnyArray:
    """Contiguous and little-endian; the same array where it is so already."""
    dtype = array.dtype.newbyteorder("<")
    if dtype not in NAMES:
        raise CandideError(f"Arrays of {dtype} have no place in a model file.")
    return np.ascontiguousarray(array, dtype=dtype)


def array_view(view: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...]) -> AnyArray:
    """A read-only array over some bytes; copied only where the machine could not read them in place."""
    array = np.frombuffer(view, dtype).reshape(shape) if len(view) else np.empty(shape, dtype)
    array = array.astype(dtype.newbyteorder("="), copy=not array.flags.aligned)
    array.flags.writeable = False
    return array


def digest(array: AnyArray) -> str:
    """The SHA-256 of the bytes of an array."""
    return hashlib.sha256(as_stored(array).reshape(-1).view(np.uint8).data).hexdigest()


def to_json(value: Any) -> str:
    """The one JSON text of a value: sorted, without spaces, in ASCII."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    if "\\ud" in text and json.loads(text) != value:
        raise CandideError("A name or an option holds two halves of one character side by side, which JSON would join.")
    return text


def from_json(text: str) -> Any:
    """The JSON object of a text, which must be the very text that `to_json` writes: no duplicates, no surprises."""
    value = json.loads(text)
    if type(value) is not dict or to_json(value) != text.rstrip(" "):
        raise ModelFileRefused("its head is not written as Candide writes it")
    return value
