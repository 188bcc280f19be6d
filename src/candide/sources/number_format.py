"""How the numbers of a column are written: a decimal comma, points between thousands, a currency, a percent sign.

One value cannot tell (`1,234` may be more than a thousand or less than two), so a format is decided for a whole column.
It is named by an example, which is also how a user asks for it: `number 1.234,5 €`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from candide.data.errors import Location
from candide.sources.refused import SourceRefused

UNITS = ("€", "$", "£", "¥", "₹", "₽", "₺", "₩", "%", "EUR", "USD", "GBP", "CHF", "JPY")
CALLED = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes", "_": "underscores"}
USUAL = ((".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"))
"""A decimal mark and what stands between thousands, in the order in which they are tried."""

SPACES = "[\u00a0\u2009\u202f]"
MINUS = "\u2212"


@dataclass(frozen=True)
class NumberFormat:
    """A decimal mark, what stands between thousands, and a unit before or behind the number.

    >>> NumberFormat.like("1.234,5 €"), NumberFormat(",", ".").example
    (NumberFormat(decimal=',', thousands='.', unit='€'), '1.234,5')
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @classmethod
    def like(cls, example: str) -> NumberFormat:
        """The format of an example: a number from a thousand up, with a decimal, such as 1.234,5."""
        found = re.fullmatch(r"(\D*?)\d{1,3}(\D?)\d{3}(?:(\D)\d+)?(\D*)", tidy(example))
        if found is None:
            raise SourceRefused(
                f"'number {example}' does not show how numbers are written.",
                advice=(
                    "Show one from a thousand up, with a decimal: 'number 1.234,5', 'number 1,234.5 $' or 'number "
                    "1234,5'."
                ),
                where=Location(value=example),
            )
        before, thousands, decimal, after = found.groups()
        usual = "," if thousands == "." else "."
        return cls(decimal or usual, thousands, before.strip() or after.strip())

    @property
    def example(self) -> str:
        """A number in this format."""
        return f"1{self.thousands}234{self.decimal}5 {self.unit}".strip()

    @property
    def pattern(self) -> str:
        """What all numbers in this format look like, once `tidied_numbers`."""
        decimal, thousands, unit = map(re.escape, (self.decimal, self.thousands, self.unit))
        whole = rf"(?:[1-9][0-9]{{0,2}}(?:{thousands}[0-9]{{3}})+|[0-9]+)" if thousands else "[0-9]+"
        number = rf"(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][-+]?[0-9]+)?"
        return rf"^(?:[-+]? ?(?:{unit} ?)?|{unit} ?[-+]){number}(?: ?{unit})?$"

    def normalized(self, values: Any) -> Any:
        """The same numbers as every program writes them."""
        for mark in filter(None, (self.unit, self.thousands, " ", "+")):
            values = pc.replace_substring(values, mark, "")
        return values if self.decimal == "." else pc.replace_substring(values, self.decimal, ".")


def tidy(text: str) -> str:
    """One text with plain spaces and a plain minus."""
    return re.sub(SPACES, " ", text).replace(MINUS, "-").strip()


def tidied_numbers(values: Any) -> Any:
    """Arrow text with plain spaces and a plain minus."""
    plain = pc.replace_substring(pc.replace_substring_regex(values, SPACES, " "), MINUS, "-")
    return pc.utf8_trim(plain, " ")


def number_format_of(
    values: Any, decimal: str | None = None, thousands: str | None = None
) -> tuple[NumberFormat, str] | None:
    """The format in which all values are numbers, and what tells it; none where there is none.

    `decimal` and `thousands` are what a user said. Where commas may be decimal ones or stand between thousands, since
    every group has exactly three digits, they stand between thousands.
    """
    values = tidied_numbers(values)
    unit = shared_unit(values)
    marks = [(d, t) for d, t in USUAL if decimal in (None, d) and thousands in (None, t)]
    formats = [NumberFormat(d, t, unit) for d, t in marks or [(decimal or ".", thousands or "")]]
    fitting = [form for form in formats if all_match(values, form.pattern)]
    if not fitting:
        return None
    money = unit not in ("", "%")
    form = next((one for one in fitting if money and groups_thousands(values, one)), fitting[0])
    return form, number_form_in_words(values, form, is_assumed=decimal is None and thousands is None)


def shared_unit(values: Any) -> str:
    """The unit that every value has, if any; or the currency that some have, since others may leave it out."""
    every = (unit for unit in UNITS if pc.all(pc.match_substring(values, unit)).as_py())
    some = (unit for unit in UNITS if unit != "%" and some_contain(values, unit))
    return next(every, next(some, ""))


def all_match(values: Any, pattern: str) -> bool:
    """Whether every value that is there looks as the pattern says."""
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def groups_thousands(values: Any, form: NumberFormat) -> bool:
    """Whether some value has thousands set apart, and none a decimal."""
    return some_contain(values, form.thousands) and not some_contain(values, form.decimal)


def some_contain(values: Any, mark: str) -> bool:
    """Whether some value has the mark."""
    return bool(mark) and pc.any(pc.match_substring(values, mark)).as_py() is True


def number_form_in_words(values: Any, form: NumberFormat, is_assumed: bool) -> str:
    """What the format is, as a reason says it; and that it was assumed, where thousands might be decimals.

    >>> import pyarrow as pa
    >>> number_format_of(pa.array(["1,5", "2,25"]))[1], number_format_of(pa.array(["€ 12", "€ 1,234.50"]))[1]
    ('numbers with a decimal comma', 'numbers in € with commas between thousands')
    """
    said = f"numbers in {form.unit}" if form.unit else "numbers"
    marks = ["a decimal comma"] if form.decimal == "," and some_contain(values, ",") else []
    has_thousands = some_contain(values, form.thousands)
    marks += [f"{CALLED.get(form.thousands, form.thousands)} between thousands"] * has_thousands
    said += f" with {' and '.join(marks)}" if marks else ""
    decimals = NumberFormat(form.thousands, "", form.unit)
    is_open = form.thousands in (",", ".") and has_thousands and all_match(values, decimals.pattern)
    if is_assumed and is_open:
        said += f" (assumed; if they are decimals, its type is 'number {decimals.example}')"
    return said
