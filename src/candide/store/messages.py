"""Messages in a model file: their parts, so that whoever loads it can word the advice; older files have sentences."""

from __future__ import annotations

import re
from typing import Any

from candide.data.advice import Message, SetOption, plain_part, read_part

OLD_ADVICE = re.compile(r"families=\{'(?P<key>.*?)': '(?P<value>[a-z_]+)'\}|(?P<name>types)=\.\.\. \(--type\)")
"""How advice was worded in files of versions up to 0.1, for Python."""


def message_data(said: str) -> Any:
    """A message as JSON says it: plain text, or a list of texts and advice."""
    return [plain_part(part) for part in said.parts] if isinstance(said, Message) and said.advice else str(said)


def read_message(data: Any) -> Message:
    """A message from a file; advice in an older one is found in its sentence.

    >>> read_message("it looks like an id. To learn it: families={'nr': 'guess'}.").advice
    (SetOption(name='families', value='guess', key='nr'),)
    """
    return older_message(data) if isinstance(data, str) else Message(*map(read_part, data))


def older_message(text: str) -> Message:
    """The parts of a sentence that was worded for Python."""
    parts: list[Any] = []
    end = 0
    for found in OLD_ADVICE.finditer(text):
        named = SetOption("types") if found["name"] else SetOption("families", found["value"], found["key"])
        parts += [text[end : found.start()], named]
        end = found.end()
    return Message(*parts, text[end:])
