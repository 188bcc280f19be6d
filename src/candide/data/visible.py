"""The one place where data becomes text for people: what moves a cursor, hides or turns its neighbours is spelled out.

A label may hold a terminal's escape codes, a category a right-to-left override, a header a line's end. Files, JSON and
CSV keep them; what is printed for people shows them as `\\x1b`, `\\u202e`, `\\n`. Text of every script and emoji stay
as they are, with the joiners that belong to them.
"""

from __future__ import annotations

import re

CONTROL = r"\x00-\x1f\x7f-\x9f"
"""What terminals obey: the C0 and C1 characters and DEL."""

TURNING = r"\u202a-\u202e\u2066-\u2069"
"""Embeddings, overrides and isolates, which show letters in another order than they are in."""

UNSEEN = (
    r"\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2028\u2029\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\U0001d173-\U0001d17a"
)
"""Letters without a shape, with which two different names look alike; and ends of lines that few know."""

SURROGATES = r"\ud800-\udfff"
"""Half letters, which no file may hold."""

JOINERS = r"\u061c\u200b-\u200f"
"""Marks of direction, joiners and breaks without width: they belong to many scripts and to emoji, beside those."""

TAGS = r"\U000e0000-\U000e007f"
"""Letters of a flag, behind a black one: elsewhere they are a text that nobody sees."""

OTHER_SCRIPTS = r"\u0590-\u1fff\u2190-\U0010ffff"

ALWAYS = f"[{CONTROL}{TURNING}{UNSEEN}{SURROGATES}]"
LONE_JOINERS = f"(?<![{OTHER_SCRIPTS}{JOINERS}])[{JOINERS}](?![{OTHER_SCRIPTS}])"
WITHOUT_FLAG = f"(?<![\U0001f3f4{TAGS}])[{TAGS}]"
HARMFUL = re.compile(f"{ALWAYS}|{LONE_JOINERS}|{WITHOUT_FLAG}")
HARMFUL_IN_LINES = re.compile(rf"(?!\r?\n|\t)(?:{HARMFUL.pattern})")


def visible(text: str) -> str:
    """A name, a value or a sentence on one line, every character of which can be seen.

    >>> print(visible("red\\x1b[31m\\nspam\\u202e"), visible("naïve 漢字 👩‍👧"))
    red\\x1b[31m\\nspam\\u202e naïve 漢字 👩‍👧
    """
    return text if text.isascii() and text.isprintable() else HARMFUL.sub(spelled_out, text)


def visible_lines(text: str) -> str:
    """The same for a text of several lines, whose ends and tabs are its own."""
    return text if text.isascii() and text.isprintable() else HARMFUL_IN_LINES.sub(spelled_out, text)


def spelled_out(found: re.Match[str]) -> str:
    """A character as Python writes it."""
    return found.group().encode("unicode_escape").decode("ascii")


def visible_json(text: str) -> str:
    """JSON that says the same, with what could do harm escaped as JSON escapes it.

    >>> visible_json('{"a": "\\u202e"}')
    '{"a": "\\\\u202e"}'
    """
    return HARMFUL_IN_LINES.sub(escaped, text)


def escaped(found: re.Match[str]) -> str:
    """A character in JSON's escapes; beyond 16 bits it takes two."""
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index : index + 2].hex()}" for index in range(0, len(units), 2))
