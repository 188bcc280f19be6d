"""Single texts as they came, as strings or as bytes."""

from __future__ import annotations

import re

from candide.data.batch import Batch

SURROGATES = re.compile("[\ud800-\udfff]")


def as_text(value: str | bytes) -> str:
    """Text, decoded where it came as bytes: what is not UTF-8 is U+FFFD byte by byte, as kernels read it.

    >>> ascii(as_text(bytes([0x63, 0xE9, 0x80])))
    "'c\\\\ufffd\\\\ufffd'"
    """
    return SURROGATES.sub("\ufffd", value.decode("utf-8", "surrogateescape")) if isinstance(value, bytes) else value


def text_in_row(row: Batch, column: str) -> str | None:
    """The text of a single row; None where there is none."""
    value = row.columns.raw(row.position(column))[0]
    value = value.as_py() if hasattr(value, "as_py") else value
    return as_text(value) if isinstance(value, (str, bytes)) else None
