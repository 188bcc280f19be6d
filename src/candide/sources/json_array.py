"""One JSON list of objects, over as many lines as it likes: `[{"a": 1}, {"a": 2}]`.

A block of items becomes a block of lines, byte for byte as long as before: the commas between items turn into line ends
and the line ends within them into spaces. So whatever is true of one object a line is true of a list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.cached import cached_property
from candide.data.errors import Location
from candide.kernels import compiled
from candide.sources.blocks import RecordBlock, beginning
from candide.sources.json_lines import JsonLines, Line, NonEmptyLines
from candide.sources.origins import Origin
from candide.sources.refused import SourceRefused
from candide.sources.streams import ByteStream

QUOTE, BACKSLASH, COMMA, SPACE, LINE_FEED, TAB, CARRIAGE_RETURN = 34, 92, 44, 32, 10, 9, 13
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = 91, 93, 123, 125
NO_TEXT = 1
"""What a line end within a string becomes: JSON allows neither there."""

FIRST, NEXT, ITEM, CLOSED = 0, 1, 2, 3
WRONG = (
    "",
    "two items without a comma between them",
    "a comma with no item before it",
    "a comma with no item behind it",
    "a bracket that closes nothing",
    "something behind the end of the list; one list a file is read, or one object a line",
)
IN_ORDER, NO_COMMA, NO_ITEM, LAST_COMMA, UNBALANCED, AFTER_END = range(6)


@compiled
def last_item_end(data: AnyArray) -> int:
    """The place after the last comma between items of uint8 `data`, which begins between two; 0 when there is none."""
    depth = end = 0
    in_string = escaped = False
    for position in range(len(data)):
        byte = data[position]
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
        elif byte in (CLOSE_LIST, CLOSE_OBJECT):
            depth -= 1
            if depth < 0:
                return end
        elif byte == COMMA and depth == 0:
            end = position + 1
    return end


@compiled
def write_lines(data: AnyArray, state: int, lines: AnyArray) -> tuple[int, int, bool]:
    """Fill uint8 `lines`, as long as `data`, with one item a line; `state` is FIRST after the opening bracket, or NEXT.

    Gives what is wrong (an index into WRONG), where, and whether the list was closed.
    """
    depth = 0
    in_string = escaped = ended = False
    for position in range(len(data)):
        byte = data[position]
        written = byte
        if in_string:
            if escaped:
                escaped = False
            elif byte == BACKSLASH:
                escaped = True
            elif byte == QUOTE:
                in_string = False
                ended = depth == 0
            if byte == LINE_FEED:
                written = NO_TEXT
        elif byte in (SPACE, LINE_FEED, TAB, CARRIAGE_RETURN):
            written = SPACE
            ended = ended or (depth == 0 and state == ITEM)
        elif state == CLOSED:
            return AFTER_END, position, True
        elif depth == 0 and byte == COMMA:
            if state != ITEM:
                return NO_ITEM, position, False
            written = LINE_FEED
            state = NEXT
            ended = False
        elif depth == 0 and byte == CLOSE_LIST:
            if state == NEXT:
                return LAST_COMMA, position, False
            written = SPACE
            state = CLOSED
        elif depth == 0 and byte == CLOSE_OBJECT:
            return UNBALANCED, position, False
        elif ended:
            return NO_COMMA, position, False
        else:
            state = ITEM
            if byte == QUOTE:
                in_string = True
            elif byte in (OPEN_LIST, OPEN_OBJECT):
                depth += 1
            elif byte in (CLOSE_LIST, CLOSE_OBJECT):
                depth -= 1
                ended = depth == 0
        lines[position] = written
    return IN_ORDER, len(data), state == CLOSED


class JsonArray(JsonLines):
    """The columns that the first items of a list have, and how a block of items becomes columns."""

    format = "json"
    begins_anywhere = False

    def enter(self, name: str, head: bytes) -> tuple[int, int]:
        start = _after_bracket(head)
        if not start:
            raise SourceRefused(
                f"{name} does not begin with '[', but the first file is a JSON list.",
                advice="Read it apart.",
                where=Location(name),
            )
        return start, head.count(b"\n", 0, start) + 1

    def has_record(self, head: bytes) -> bool:
        start = _after_bracket(head)
        return bool(head.strip()) and (not start or self.end_of_records(head[start:]) > 0)

    def end_of_records(self, data: bytes) -> int:
        return int(last_item_end(np.frombuffer(data, np.uint8)))

    def lines(self, block: RecordBlock) -> NonEmptyLines:
        """The items of a block as lines."""
        data = np.frombuffer(block.data, np.uint8)
        converted = np.full(len(data), SPACE, dtype=np.uint8)
        wrong, position, is_closed = write_lines(data, FIRST if block.is_first else NEXT, converted)
        if wrong == IN_ORDER and block.is_last and not is_closed:
            raise SourceRefused(
                f"{block.name}: the list is never closed by ']'. The file may be cut short.", where=Location(block.name)
            )
        if wrong:
            line = block.line + block.data.count(b"\n", 0, position)
            raise SourceRefused(
                f"{block.name}, line {line:,}: {WRONG[wrong]}.",
                advice="Mend the file.",
                where=Location(block.name, line=line),
            )
        return Items(replace(block, whole=converted.tobytes(), end=None), block.data)


@dataclass
class Items(NonEmptyLines):
    """The items of a block as lines, each with the number of the line on which it began."""

    written: bytes

    @cached_property
    def found(self) -> list[Line]:
        ends = np.flatnonzero(np.frombuffer(self.written, np.uint8) == LINE_FEED)
        items = self.block.data.split(b"\n")
        begins = np.cumsum([0, *(len(item) + 1 for item in items[:-1])])
        begins += [len(item) - len(item.lstrip()) for item in items]
        numbers = self.block.line + np.searchsorted(ends, begins)
        return [(int(number), item) for number, item in zip(numbers, items, strict=True) if item.strip()]


def begins_with_list(origins: tuple[Origin, ...], encoding: str | None) -> bool:
    """Whether the first file that has something in it begins with '['."""
    for origin in origins:
        stream = ByteStream(origin, encoding)
        try:
            head, _ = beginning(stream, 1, lambda data: bool(data.strip()))
        finally:
            stream.close()
        if head.strip():
            return _after_bracket(head) > 0
    return False


def _after_bracket(head: bytes) -> int:
    """The place after the bracket that opens a list; 0 where there is none."""
    start = len(head) - len(head.lstrip())
    return start + 1 if head[start : start + 1] == b"[" else 0
