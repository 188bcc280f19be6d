"""How the dates of a column are written: which of day, month and year comes first, decided for a whole column.

A form is named by an example, the last day of 2024, which is also how a user asks for it: `date 31/12/2024`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from candide.data.errors import Location
from candide.sources.refused import SourceRefused

NAMES = {"31": "day", "12": "month", "2024": "year"}
PATTERNS = {
    "day": "(?P<day>0?[1-9]|[12][0-9]|3[01])",
    "month": "(?P<month>0?[1-9]|1[0-2])",
    "year": "(?P<year>[0-9]{4})",
}
MINUTES = r"(?P<minutes>[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
HOURS = rf"(?:[ T]|, ?)(?P<hour>[0-9]{{1,2}}):{MINUTES}(?: ?(?P<half>[AaPp][Mm]))?"
EXAMPLES = (
    "31.12.2024", "12/31/2024", "31/12/2024", "31-12-2024", "12-31-2024", "2024/12/31", "2024.12.31"
)  # fmt: skip
"""The forms beside 2024-12-31, in the order in which they are tried: the first of several that fit is assumed."""


@dataclass(frozen=True)
class DateForm:
    """How a date is written, by an example; `timed` where an hour stands behind it.

    >>> DateForm("31.12.2024").iso(pa.array(["1.2.1969", None])).to_pylist()
    ['1969-02-01', None]
    >>> DateForm("12/31/2024", timed=True).iso(pa.array(["7/4/2024 1:05 PM"])).to_pylist()
    ['2024-07-04 13:05']
    """

    example: str
    timed: bool = False

    @classmethod
    def like(cls, example: str, timed: bool) -> DateForm:
        """The form of an example, which must be one of those known."""
        date = re.split(r"[ T]", example.strip())[0]
        if date not in EXAMPLES:
            known = ", ".join(EXAMPLES)
            raise SourceRefused(
                f"'{example}' does not show how dates are written.",
                advice=f"Show the last day of 2024: {known}.",
                where=Location(value=example),
                expected=known,
            )
        return cls(date, timed)

    @property
    def order(self) -> tuple[str, ...]:
        """day, month and year, as they follow each other."""
        return tuple(NAMES[part] for part in re.split(r"\D", self.example))

    @property
    def pattern(self) -> str:
        """What all dates of this form look like."""
        separator = re.escape(re.sub(r"\d", "", self.example)[0])
        date = separator.join(PATTERNS[name] for name in self.order)
        return f"^{date}{HOURS if self.timed else ''}$"

    def iso(self, values: Any) -> Any:
        """The same dates as Arrow reads them: 2024-12-31, or 2024-12-31 23:59."""
        found = pc.extract_regex(values, self.pattern)
        parts = {name: pc.struct_field(found, name) for name in ("year", "month", "day")}
        date = joined_with([parts["year"], two_digits(parts["month"]), two_digits(parts["day"])], "-")
        return joined_with([date, self._clock(found)], " ") if self.timed else date

    def _clock(self, found: Any) -> Any:
        """Hours and minutes of the day, counted to 24."""
        hour, half = pc.struct_field(found, "hour"), pc.struct_field(found, "half")
        if pc.any(pc.binary_length(half).cast(pa.bool_())).as_py():
            hour = to_24(hour.cast(pa.int32()), half)
        return joined_with([two_digits(hour), pc.struct_field(found, "minutes")], ":")


def to_24(hour: Any, half: Any) -> Any:
    """Hours before and after noon as hours of the day: 12 AM is 0, 1 PM is 13."""
    later = pc.match_substring(half, "p", ignore_case=True).cast(pa.int32())
    twelfths = pc.if_else(pc.equal(hour, 12), 0, hour)
    counted = pc.add(twelfths, pc.multiply(later, 12))
    return pc.if_else(pc.equal(pc.binary_length(half), 0), hour, counted).cast(pa.string())


def two_digits(numbers: Any) -> Any:
    """Text with a zero before a single digit."""
    return pc.utf8_lpad(numbers, 2, "0")


def joined_with(parts: list[Any], mark: str) -> Any:
    """Texts beside each other with a mark between them, null where one is."""
    return pc.binary_join_element_wise(*parts, text_scalar(mark))


def text_scalar(text: str) -> Any:
    """An Arrow text made of bytes: taking a Python value makes PyArrow import pandas, which takes half a second."""
    data = text.encode()
    offsets = len(data).to_bytes(4, sys.byteorder)
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(bytes(4) + offsets), pa.py_buffer(data)])[0]


def date_forms() -> list[DateForm]:
    """Every form, without and with hours."""
    return [DateForm(example, timed) for timed in (False, True) for example in EXAMPLES]


def date_form_in_words(form: DateForm, others: list[DateForm]) -> str:
    """What the form is, as a reason says it; and that it was assumed, where another would do."""
    said = f"{'times' if form.timed else 'dates'} as {', '.join(form.order)}"
    if not others:
        return said
    kind = "time" if form.timed else "date"
    return f"{said} (assumed, since no day is above 12; else its type is '{kind} {others[0].example}')"
