"""Which rows are wanted: `split = 'train' and age >= 18`. Read by a small grammar of its own; nothing is evaluated.

    condition  = comparison, { "and", comparison }
    comparison = column, ( "=" | "!=" | "<" | "<=" | ">" | ">=" ), value
               | column, "is", [ "not" ], "missing"
    column     = word | "in double quotes"
    value      = number | 'in single quotes' | true | false

A quote inside quotes is doubled. A value is compared as what its column holds: numbers and dates by their size, text
letter by letter. Where a value is missing only "is missing" is true.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide.data.advice import SetOption
from candide.data.arrays import AnyArray
from candide.data.errors import ColumnRefused, Location, OptionRefused
from candide.sources.kinds import FALSE, KINDS, TRUE, as_kind, as_truths, is_text, one_chunk

TOKEN = re.compile(
    r"""\s*(?:(?P<text>'(?:[^']|'')*') | (?P<name>"(?:[^"]|"")*") | (?P<sign><=|>=|!=|<>|==|=|<|>)
    | (?P<word>[^\s'"<>=!]+))""",
    re.VERBOSE,
)
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
WHOLE = re.compile(r"[-+]?[0-9]{1,30}")
SPELLINGS = {"==": "=", "<>": "!="}
EXAMPLE = SetOption("where", "split = 'train' and age >= 18")
Token = tuple[str, str]


@dataclass(frozen=True)
class Condition:
    """A column beside a value: text, a number or a truth; or, where the sign is "is", None for a missing one."""

    column: str
    sign: str
    value: str | float | bool | None

    def holds(self, values: Any, name: str) -> AnyArray:
        """In which rows it is true."""
        if self.sign == "is missing":
            return as_truths(pc.is_null(values, nan_is_null=True))
        if self.sign == "is not missing":
            return ~as_truths(pc.is_null(values, nan_is_null=True))
        try:
            found = COMPARE[self.sign](*self._alike(values))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise OptionRefused(
                f"{name}: column '{self.column}' holds {values.type}, which cannot be compared with {self.value!r}.",
                advice="Write numbers without quotes, and text and dates ('2026-01-31') in single quotes.",
                where=Location(name, column=self.column, value=self.value),
                expected=f"{values.type}",
            ) from None
        return as_truths(pc.fill_null(found, pa.scalar(False)))

    def _alike(self, values: Any) -> tuple[Any, Any]:
        """The column and the value as one type; text that is read as numbers only where a number is asked for."""
        if isinstance(self.value, bool):
            truths = as_kind(values, KINDS["truth"])[0] if is_text(values.type) else values
            return truths, pa.scalar(self.value)
        if isinstance(self.value, str):
            return values, pa.scalar(self.value).cast(values.type)
        if is_text(values.type):
            values = as_kind(values, KINDS["number"])[0]
        if isinstance(self.value, int) and pa.types.is_signed_integer(values.type) and abs(self.value) < 2**63:
            return values, pa.scalar(self.value, pa.int64())
        return values.cast(pa.float64(), safe=False), pa.scalar(float(self.value or 0))


@dataclass(frozen=True)
class Where:
    """Comparisons of which all must hold."""

    said: str
    comparisons: tuple[Condition, ...]

    @classmethod
    def of(cls, said: str) -> Where:
        """Read a condition.

        >>> [(one.column, one.sign, one.value) for one in Where.of("age >= 18 and town is missing").comparisons]
        [('age', '>=', 18), ('town', 'is missing', None)]
        """
        tokens, found = tokens_of(said), []
        while True:
            comparison, tokens = comparison_of(said, tokens)
            found.append(comparison)
            if not tokens:
                return cls(said, tuple(found))
            if not is_keyword(tokens[0], "and"):
                raise not_understood(said, f"'and' was expected before {tokens[0][1]!r}")
            tokens = tokens[1:]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(comparison.column for comparison in self.comparisons)

    def holds(self, length: int, column: Callable[[str], Any], name: str) -> AnyArray:
        """In which rows all hold, of the rows whose columns `column` gives, or None where there is none."""
        found = np.ones(length, dtype=bool)
        for comparison in self.comparisons:
            values = column(comparison.column)
            found &= comparison.holds(pa.nulls(length, pa.string()) if values is None else simple(values), name)
        return found

    def refuse_unknown(self, columns: Sequence[str], name: str) -> None:
        """Raise where a column is not there."""
        for column in self.columns:
            if column not in columns:
                raise ColumnRefused.of_name(
                    f"{name} has no column '{column}' to choose rows by.",
                    column,
                    columns,
                    where=Location(name, column=column),
                )


def simple(values: Any) -> Any:
    """A column as one Arrow array of plain values."""
    if not isinstance(values, (pa.Array, pa.ChunkedArray)):
        values = pa.array(values, from_pandas=True)
    values = one_chunk(values)
    if pa.types.is_null(values.type):
        return values.cast(pa.string())
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def tokens_of(said: str) -> list[Token]:
    """The words, signs and quoted texts of a condition."""
    tokens: list[Token] = []
    position = 0
    while said[position:].strip():
        match = TOKEN.match(said, position)
        if match is None:
            raise not_understood(said, f"{said[position:].strip()[:20]!r} begins nothing that is known")
        tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
        position = match.end()
    return tokens


def comparison_of(said: str, tokens: list[Token]) -> tuple[Condition, list[Token]]:
    """The first comparison, and what follows it."""
    if not tokens or tokens[0][0] not in ("word", "name"):
        raise not_understood(said, "a column was expected" + (f", not {tokens[0][1]}" if tokens else " at the end"))
    kind, text = tokens[0]
    column = text[1:-1].replace('""', '"') if kind == "name" else text
    rest = tokens[1:]
    if len(rest) > 1 and is_keyword(rest[0], "is") and is_keyword(rest[1], "missing"):
        return Condition(column, "is missing", None), rest[2:]
    if len(rest) > 2 and is_keyword(rest[0], "is") and is_keyword(rest[1], "not") and is_keyword(rest[2], "missing"):
        return Condition(column, "is not missing", None), rest[3:]
    if len(rest) < 2 or rest[0][0] != "sign":
        raise not_understood(said, f"'{column}' needs one of = != < <= > >= and a value behind it, or 'is missing'")
    sign = SPELLINGS.get(rest[0][1], rest[0][1])
    return Condition(column, sign, condition_value(said, rest[1])), rest[2:]


def condition_value(said: str, token: Token) -> str | float | bool:
    """A number, a truth, or text in quotes."""
    kind, text = token
    if kind == "text":
        return text[1:-1].replace("''", "'")
    if kind == "word" and text in (*TRUE, *FALSE):
        return text in TRUE
    try:
        return int(text) if WHOLE.fullmatch(text) else float(text)
    except ValueError:
        raise not_understood(said, f"{text} is no number; text stands in single quotes, as in '{text}'") from None


def is_keyword(token: Token, word: str) -> bool:
    """Whether a token is this word, in capitals or not."""
    return token[0] == "word" and token[1].lower() == word


def not_understood(said: str, why: str) -> OptionRefused:
    """A condition that does not follow the grammar."""
    return OptionRefused(
        f"The condition {said!r} is not understood: {why}.",
        advice=("An example: ", EXAMPLE, "."),
        where=Location(value=said),
    )
