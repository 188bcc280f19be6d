"""Eight bytes at a time: which of them are ASCII word characters, and what they are in lower case.

The trick is old (Lamport 1975, "Multiple byte processing with full-word instructions"): eight bytes of seven bits fit
side by side in one integer, and adding 0x80 - a to each carries into its top bit exactly where the byte is at least a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from candide.data.arrays import AnyArray
from candide.kernels import compiled


def in_every_byte(value: int) -> np.uint64:
    """The same byte eight times."""
    return np.uint64(int.from_bytes(bytes([value] * 8), "little"))


TOPS, SEVENS, CASE_BITS = in_every_byte(0x80), in_every_byte(0x7F), in_every_byte(0x20)
FROM_A, BEYOND_Z = in_every_byte(0x80 - ord("a")), in_every_byte(0x7F - ord("z"))
FROM_CAPITAL_A, BEYOND_CAPITAL_Z = in_every_byte(0x80 - ord("A")), in_every_byte(0x7F - ord("Z"))
FROM_0, BEYOND_9 = in_every_byte(0x80 - ord("0")), in_every_byte(0x7F - ord("9"))
UNDERSCORES = in_every_byte(ord("_"))
TWO = np.uint64(2)


def _eight_bytes(typing_context: Any, text: Any, position: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = cgutils.gep_inbounds(builder, array.data, arguments[1])
        wide = builder.bitcast(pointer, ir.IntType(64).as_pointer())
        return builder.load(wide, align=1)

    return types.uint64(text, types.int64), generate


def _bytes_before(typing_context: Any, marks: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        zeros = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))

    return types.int64(types.uint64), generate


#: text[position:position + 8] as one integer, first byte lowest; the caller knows that they are there.
eight_bytes: Callable[[AnyArray, int | np.int64], np.uint64] = cast(Any, intrinsic(_eight_bytes))
#: How many bytes lie below the lowest one that is marked in its top bit; 8 where none is.
bytes_before: Callable[[np.uint64], int] = cast(Any, intrinsic(_bytes_before))


@compiled
def word_marks(chunk: np.uint64) -> np.uint64:
    """The top bit of every byte that is an ASCII letter, digit or underscore."""
    low = chunk & SEVENS
    small = low | CASE_BITS
    letters = (small + FROM_A) & ~(small + BEYOND_Z)
    digits = (low + FROM_0) & ~(low + BEYOND_9)
    underscores = ~((low ^ UNDERSCORES) + SEVENS)
    return (letters | digits | underscores) & ~chunk & TOPS


@compiled
def lower_case(chunk: np.uint64) -> np.uint64:
    """The same bytes with ASCII capitals made small; bytes that are not ASCII must not be there."""
    capitals = (chunk + FROM_CAPITAL_A) & ~(chunk + BEYOND_CAPITAL_Z) & TOPS
    return chunk | (capitals >> TWO)
