"""Keys as arrays: every value one after the other in an arena of bytes, where each ends, and of which kind it is."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.errors import CandideError
from candide.data.values import Key
from candide.store.parts import Parts
from candide.store.refusals import ModelFileRefused

BYTES, MISSING, WHOLE, FRACTION, TEXT, TIME, TRUTH = range(7)
KINDS = ("bytes", "missing", "number", "number", "text", "time", "truth")
TRUTHS = {b"\0": False, b"\1": True}


def key_arrays(keys: Sequence[Key]) -> dict[str, AnyArray]:
    """The arrays of some keys, which give them back exactly.

    >>> {name: array.tolist() for name, array in key_arrays([("number", 300), ("text", "é")]).items()}
    {'kinds': [2, 4], 'ends': [2, 4], 'arena': [44, 1, 195, 169]}
    """
    coded = [key_to_bytes(*key) for key in keys]
    return {
        "kinds": np.array([code for code, _ in coded], dtype=np.uint8),
        "ends": np.cumsum([len(raw) for _, raw in coded], dtype=np.int64),
        "arena": np.frombuffer(b"".join(raw for _, raw in coded), dtype=np.uint8),
    }


def read_keys(parts: Parts) -> list[Key]:
    """The keys that were written, each in the one form there is for it."""
    kinds = parts.take("kinds", np.uint8, None)
    ends = parts.take("ends", np.int64, len(kinds))
    arena = parts.take("arena", np.uint8, None)
    starts = np.concatenate([np.zeros(1, np.int64), ends])
    if (starts[1:] < starts[:-1]).any() or starts[-1] != arena.size:
        raise ModelFileRefused("its keys do not fill their bytes")
    raw = arena.tobytes()
    indices = pairwise(starts.tolist())
    return [key_from_bytes(kind, raw[start:end]) for kind, (start, end) in zip(kinds.tolist(), indices, strict=True)]


def refuse_disorder(items: Iterable[Any]) -> None:
    """Raise unless each item is larger than the one before."""
    if not all(before < after for before, after in pairwise(items)):
        raise ModelFileRefused("its keys are not sorted, or one occurs twice")


def key_to_bytes(kind: str, value: Any) -> tuple[int, bytes]:
    """A key's kind as a number, and its value as bytes."""
    if kind == "text":
        return TEXT, value.encode("utf-8", "surrogatepass")
    if kind == "number" and value in (math.inf, -math.inf):
        return FRACTION, struct.pack("<d", value)
    if kind == "number" and value == int(value):
        return WHOLE, whole_bytes(int(value))
    if kind == "number":
        return FRACTION, struct.pack("<d", value)
    if kind == "truth":
        return TRUTH, b"\1" if value else b"\0"
    if kind == "bytes":
        return BYTES, value
    if kind == "time":
        return TIME, value.encode("utf-8", "surrogatepass")
    if kind == "missing" and value == "":
        return MISSING, b""
    raise CandideError(f"A key of the kind {kind!r} has no place in a model file.")


def key_from_bytes(code: int, raw: bytes) -> Key:
    """The key of a kind and its bytes; bytes that `key_to_bytes` would not write are refused."""
    if code in (TEXT, TIME):
        return KINDS[code], raw.decode("utf-8", "surrogatepass")
    if code == WHOLE:
        whole = int.from_bytes(raw, "little", signed=True)
        if raw == whole_bytes(whole):
            return "number", whole
    if code == FRACTION and len(raw) == 8:
        fraction: float = struct.unpack("<d", raw)[0]
        if math.isinf(fraction) or fraction != math.floor(fraction):
            return "number", fraction
    if code == TRUTH and raw in TRUTHS:
        return "truth", TRUTHS[raw]
    if code == BYTES:
        return "bytes", raw
    if code == MISSING and not raw:
        return "missing", ""
    raise ModelFileRefused("one of its keys is not written as Candide writes it")


def whole_bytes(value: int) -> bytes:
    """A whole number of any size, in two's complement."""
    return value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
