"""What the values of a column are: numbers, truth values, dates or text; decided once, from a sample of text.

| kind | accepts | Arrow type |
|---|---|---|
| `number` | `12`, `-0.5`, `1e9`, `inf`, spaces around | int64 where all are whole, else float64 |
| `integer` | whole numbers of 64 bits, kept exactly even beyond 2^53 | int64 |
| `truth` | `true` and `false`, also `True` and `TRUE` | bool |
| `date` | `2026-01-31` | date32 |
| `time` | `2026-01-31 12:00`, also with `T`, seconds and up to six decimals | timestamp |
| `instant` | the same with `Z` or `+01:00` behind it | timestamp in UTC |
| `text` | everything | string |

Numbers and dates may be written in other ways, which a sample shows and an example names: `number 1.234,5 €`
(`number_format.py`), `date 31.12.2024`, `time 12/31/2024` (`dates.py`).

An empty field is missing, whatever the kind. The words in `MISSING` are missing too, but not in text, where "NA" may
be Namibia and "?" a value that tells something; there only the words a user names are. Whole and broken numbers are one
kind, since 1 and 1.0 are one value: a column of whole numbers in which 2.5 turns up later is not an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.advice import NamedOption, SetOption
from candide.data.arrays import AnyArray
from candide.data.errors import ColumnRefused, Location
from candide.data.values import USUALLY_MISSING
from candide.sources.dates import DateForm, date_forms
from candide.sources.dates import date_form_in_words as form_in_words
from candide.sources.number_format import NumberFormat, number_format_of, tidied_numbers
from candide.sources.refused import SourceRefused

MISSING = USUALLY_MISSING
TRUE = ("true", "True", "TRUE")
FALSE = ("false", "False", "FALSE")
NULL = pa.nulls(1, pa.string())[0]
"""Not `pa.scalar(None)`: taking a Python value makes PyArrow import pandas, which takes half a second."""

LARGEST_EXACT = 2**53

WHOLE = r"^[-+]?[0-9]+$"
NUMBER = r"^(?i:[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|[-+]?inf(inity)?)$"
DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?$"
INSTANT = TIME[:-1] + r"(Z|[-+][0-9]{2}(:?[0-9]{2})?)$"


@dataclass(frozen=True)
class Kind:
    """One kind of values: its name, how its text looks and the Arrow type it is read into.

    `form` is an example where values are written in a way of their own, and `plain` makes of those what Arrow reads.
    `na` are words that mean a value is missing, beside the usual ones; `said` is what a reason tells of it all.
    """

    name: str
    pattern: str
    arrow: Any
    example: str
    form: str = ""
    plain: Callable[[Any], Any] | None = field(default=None, compare=False)
    na: tuple[str, ...] = ()
    said: str = field(default="", compare=False)

    @property
    def spec(self) -> str:
        """The kind as a user or a model names it.

        >>> parse_kind("number 1.234,5 €").spec, replace(TEXT, na=("unknown",)).spec
        ('number 1.234,5 €', 'text missing ["unknown"]')
        """
        named = f"{self.name} {self.form}".strip()
        return f"{named}{LACKING}{json.dumps(self.na, ensure_ascii=False)}" if self.na else named


LACKING = " missing "


KINDS = {
    kind.name: kind
    for kind in (
        Kind("number", NUMBER, pa.float64(), "a number such as 2.5"),
        Kind("integer", WHOLE, pa.int64(), "a whole number of 64 bits"),
        Kind("truth", f"^({'|'.join(TRUE + FALSE)})$", pa.bool_(), "true or false"),
        Kind("date", DATE, pa.date32(), "a date such as 2026-01-31"),
        Kind("time", TIME, pa.timestamp("us"), "a time such as 2026-01-31 12:00"),
        Kind("instant", INSTANT, pa.timestamp("us", "UTC"), "a time with its zone, such as 2026-01-31T12:00Z"),
        Kind("text", "", pa.string(), "text"),
    )
}
TEXT = KINDS["text"]


@dataclass(frozen=True)
class ParseOptions:
    """How a user says that values are written: words for missing, the decimal mark, what stands between thousands.

    What is None is found out, column by column.
    """

    na: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None

    @classmethod
    def of(cls, na: Any, decimal: str | None, thousands: str | None) -> ParseOptions:
        """What was asked for, checked; a single word will do."""
        words = (na,) if isinstance(na, str) else tuple(na or ())
        for name, mark in (("decimal", decimal), ("thousands", thousands)):
            if mark is not None and (len(mark) != 1 or mark.isdigit() or mark in "+-"):
                raise SourceRefused.of_option(name, "one character such as ',' or '.'", mark)
        if decimal is not None and decimal == thousands:
            both = (NamedOption("decimal"), " and ", NamedOption("thousands"))
            raise SourceRefused(*both, f" cannot both be {decimal!r}.")
        if not all(isinstance(word, str) for word in words):
            raise SourceRefused(
                NamedOption("na"),
                f" must be words that mean a value is missing, not {na!r}.",
                advice=("An example: ", SetOption("na", ["unknown"]), "."),
                where=Location(value=na),
                expected="words that mean a value is missing",
            )
        return cls(words, decimal, thousands)

    @property
    def has_number_format(self) -> bool:
        """Whether something was said of how numbers are written."""
        return self.decimal is not None or self.thousands is not None


FOUND_OUT = ParseOptions()


@cache
def parse_kind(spec: str) -> Kind:
    """The kind of a name, an example behind it where its values are written in a way of their own."""
    named, _, words = spec.partition(LACKING)
    name, _, form = named.strip().partition(" ")
    if name not in KINDS:
        raise SourceRefused.of_name(f"'{spec}' is no type.", name, KINDS, where=Location(value=spec))
    kind = _formed(name, form) if form else KINDS[name]
    return replace(kind, na=tuple(json.loads(words))) if words else kind


def _formed(name: str, form: str) -> Kind:
    if name == "number":
        return in_number_format(NumberFormat.like(form))
    if name in ("date", "time"):
        return dated(DateForm.like(form, timed=name == "time"))
    raise SourceRefused(
        f"'{name} {form}' is no type: only number, date and time are written in several ways.",
        where=Location(value=f"{name} {form}"),
    )


def in_number_format(form: NumberFormat, said: str = "") -> Kind:
    """Numbers in a format."""
    example = f"a number such as {form.example}"
    return Kind("number", form.pattern, pa.float64(), example, form.example, form.normalized, said=said)


def dated(form: DateForm, said: str = "") -> Kind:
    """Dates, or times, of a form."""
    kind = KINDS["time" if form.timed else "date"]
    example = f"a {kind.name} such as {form.example}{' 23:59' * form.timed}"
    return replace(kind, pattern=form.pattern, example=example, form=form.example, plain=form.iso, said=said)


def kinds_given(types: Mapping[str, str] | None, names: tuple[str, ...]) -> dict[str, Kind]:
    """The kinds a user wrote by hand, checked."""
    given = {}
    for column, kind in (types or {}).items():
        if column not in names:
            raise ColumnRefused.of_name(
                f"There is no column '{column}' to give a type.", column, names, where=Location(column=column)
            )
        try:
            given[column] = parse_kind(str(kind))
        except SourceRefused as problem:
            raise SourceRefused(
                f"Column '{column}': ",
                problem.what,
                advice=problem.advice,
                where=Location(column=column, value=kind),
                expected=problem.expected,
            ) from None
    return given


def kind_of_sample(texts: Any, parsing: ParseOptions = FOUND_OUT) -> tuple[Kind, Any]:
    """The kind that all values of a sample fit, and the Arrow type to try first; text when there are none.

    >>> kind_of_sample(pa.array(["1", "NA", "30"]))[1], kind_of_sample(pa.array(["1", "x"]))[0].name
    (DataType(int64), 'text')
    >>> kind_of_sample(pa.array(["1,5", "?", "2.000,25"]))[0].spec, kind_of_sample(pa.array(["31.1.2024"]))[0].spec
    ('number 1.234,5', 'date 31.12.2024')
    """
    values = present(texts, parsing.na)
    if values.null_count == len(values):
        kind, arrow = TEXT, pa.string()
    else:
        asked = _in_some_format(values, parsing) if parsing.has_number_format else None
        found = asked or _usual(values) or _in_some_format(values, parsing) or _of_a_form(values)
        kind, arrow = found or (TEXT, pa.string())
    return (replace(kind, na=parsing.na) if parsing.na else kind), arrow


def _usual(values: Any) -> tuple[Kind, Any] | None:
    """Values as programs write them."""
    if matches_all(values, WHOLE):
        return _whole(values)
    for name in ("number", "truth", "date", "time", "instant"):
        kind = KINDS[name]
        if matches_all(values, kind.pattern) and not as_kind(values, kind)[1].any():
            return kind, kind.arrow
    return None


def _in_some_format(values: Any, parsing: ParseOptions) -> tuple[Kind, Any] | None:
    found = number_format_of(values, parsing.decimal, parsing.thousands)
    return None if found is None else (in_number_format(*found), pa.string())


def _of_a_form(values: Any) -> tuple[Kind, Any] | None:
    fitting = [form for form in date_forms() if matches_all(values, form.pattern)]
    fitting = [form for form in fitting if not as_kind(values, dated(form))[1].any()]
    return (dated(fitting[0], form_in_words(fitting[0], fitting[1:])), pa.string()) if fitting else None


def as_expected(texts: Any, found: tuple[Kind, Any], expected: str | None) -> tuple[Kind, Any]:
    """What a sample looks like, or what its column is known as where the two clash.

    Text may look like numbers; but numbers that look like text have a wrong value somewhere, which is then found.
    Numbers and dates are written as they were before, wherever the sample allows that.
    """
    if expected is None:
        return found
    known = replace(parse_kind(expected), na=tuple(dict.fromkeys([*parse_kind(expected).na, *found[0].na])))
    if known.name == TEXT.name or found[0].name == TEXT.name:
        return known, first_tried(known)
    if known.form and not as_kind(texts, known)[1].any():
        return known, first_tried(known)
    return replace(found[0], na=known.na), found[1]


def first_tried(kind: Kind) -> Any:
    """The Arrow type that a column is first read as."""
    return kind.arrow if kind.plain is None else pa.string()


def _whole(values: Any) -> tuple[Kind, Any]:
    """Whole numbers: exact ones where floats could not hold them, floats where 64 bits could not."""
    wholes, misfits = as_kind(values, KINDS["integer"])
    if misfits.any():
        return KINDS["number"], pa.float64()
    return (KINDS["integer"] if beyond_floats(wholes) else KINDS["number"]), pa.int64()


def beyond_floats(wholes: Any) -> bool:
    """Whether some whole number is too large for a float to hold exactly."""
    ends = pc.min_max(wholes).as_py()
    return ends["min"] is not None and (ends["max"] > LARGEST_EXACT or ends["min"] < -LARGEST_EXACT)


def present(texts: Any, na: tuple[str, ...] = ()) -> Any:
    """Text without the spaces around it, null where it says that nothing is there."""
    return without_words(pc.utf8_trim(texts, " \t"), (*MISSING, *na))


def without_words(texts: Any, words: tuple[str, ...]) -> Any:
    """The same text, null where it is one of the words."""
    return pc.if_else(pc.match_substring_regex(texts, one_of(words)), pa.nulls(1, texts.type)[0], texts)


@cache
def one_of(words: tuple[str, ...]) -> str:
    """A pattern that these words match, and no others."""
    return f"^(?:{'|'.join(map(re.escape, words))})$"


def matches_all(values: Any, pattern: str) -> bool:
    """Whether every value that is there looks as the pattern says."""
    return pc.all(pc.match_substring_regex(values, pattern)).as_py() is not False


def as_kind(column: Any, kind: Kind) -> tuple[Any, AnyArray]:
    """A column as the given kind, null where a value does not fit, and which rows those are.

    >>> values, misfits = as_kind(pa.array(["1", "", "x"]), KINDS["number"])
    >>> values.to_pylist(), misfits.tolist()
    ([1.0, None, None], [False, False, True])
    """
    if isinstance(column, pa.ChunkedArray):
        column = one_chunk(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if kind.name == TEXT.name:
        texts = _as_text(column)
        return (without_words(texts, kind.na) if kind.na else texts), np.zeros(len(column), dtype=bool)
    if not is_text(column.type):
        return _cast(column, kind)
    values = present(column.cast(pa.string()), kind.na)
    values = values if kind.plain is None else tidied_numbers(values)
    looks_right = pc.or_kleene(pc.match_substring_regex(values, kind.pattern), pc.is_null(values))
    right = pc.if_else(looks_right, values, NULL)
    return _cast(right if kind.plain is None else kind.plain(right), kind, ~as_truths(looks_right))


def as_truths(column: Any) -> AnyArray:
    """A fresh Arrow column of truths, none missing, as NumPy has them; `to_numpy` would import pandas."""
    ones = column.cast(pa.uint8())
    return np.frombuffer(ones.buffers()[1], np.uint8, len(ones)).astype(bool) if len(ones) else np.zeros(0, dtype=bool)


def _as_text(column: Any) -> Any:
    return column if is_text(column.type) else column.cast(pa.string())


def _cast(values: Any, kind: Kind, misfits: AnyArray | None = None) -> tuple[Any, AnyArray]:
    """Cast at once where every value allows it, else value by value (a date may look right and be 31 February)."""
    misfits = np.zeros(len(values), dtype=bool) if misfits is None else misfits
    try:
        return values.cast(kind.arrow), misfits
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    kept = []
    for row, value in enumerate(values):
        try:
            kept.append(value.cast(kind.arrow).as_py())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            kept.append(None)
            misfits[row] = True
    return pa.array(kept, kind.arrow), misfits


def settled(column: Any, kind: Kind) -> Any:
    """The same values whatever rows came with them: whole numbers that floats cannot hold become floats.

    A block of whole numbers is read as int64 and a block with 2.5 in it as float64. Up to 2^53 that makes no
    difference; beyond it, rounding always is what makes the answer independent of where the file was cut.
    """
    if kind.name == "number" and pa.types.is_integer(column.type) and beyond_floats(column):
        return column.cast(pa.float64(), safe=False)
    return column


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of the string types."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def one_chunk(column: Any) -> Any:
    """A column as one Arrow array, without a copy where it already is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)


def empty_is_missing(texts: Any) -> Any:
    """The same text, sharing memory, with null where it is empty."""
    lengths = pc.binary_length(texts)
    if len(texts) == 0 or pc.min(lengths).as_py() != 0:
        return texts
    there = pc.and_kleene(lengths.cast(pa.bool_()), pc.is_valid(texts))
    if texts.offset or there.offset:
        return pc.if_else(there, texts, pa.nulls(1, texts.type)[0])
    _, offsets, data = texts.buffers()
    return pa.Array.from_buffers(texts.type, len(texts), [there.buffers()[1], offsets, data])
