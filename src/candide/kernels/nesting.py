"""How deep brackets are nested in JSON: parsers that call themselves run out of stack, so they must be asked first."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import AnyArray
from candide.kernels import compiled

DEEPEST = 64
"""Objects and lists inside one another; what people write is rarely ten deep."""

QUOTE, BACKSLASH = 34, 92
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125


@compiled
def deepest(data: AnyArray) -> int:
    """The most brackets that are open at one place of uint8 `data`; those inside strings do not count."""
    depth = most = 0
    in_string = escaped = False
    for byte in data:
        if in_string:
            if escaped:
                escaped = False
            elif byte == BACKSLASH:
                escaped = True
            elif byte == QUOTE:
                in_string = False
        elif byte == QUOTE:
            in_string = True
        elif byte in (OPEN_LIST, OPEN_OBJECT):
            depth += 1
            most = max(most, depth)
        elif byte in (CLOSE_LIST, CLOSE_OBJECT) and depth:
            depth -= 1
    return most


def is_too_deep(data: bytes) -> bool:
    """Whether JSON is nested deeper than a parser should be asked to follow; few brackets are not looked at.

    Lines that are no JSON by themselves count together with what follows them, as a parser would read them: so the
    answer may be wrong for many lines, but never for a single one, and no parser goes deeper than this says.

    >>> is_too_deep(b'{"a": [[1]]}'), is_too_deep(b"[" * 65 + b"]" * 65), is_too_deep(b'"' + b"[" * 65 + b'"')
    (False, True, False)
    """
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    return int(deepest(np.frombuffer(data, np.uint8))) > DEEPEST
