"""A first guess at each column's family, from what its values look like, with the reason in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from candide import families
from candide.data.advice import Message, SetOption
from candide.data.arrays import AnyArray, FloatArray
from candide.data.batch import TEXT, Batch, SparseColumns, as_numbers, not_values
from candide.data.errors import ValuesRefused
from candide.data.readable import as_arrow, plain_column
from candide.data.times import DATE, time_kind
from candide.data.values import USUALLY_MISSING, Coded, key_of
from candide.families.words.unspaced import words_in
from candide.kernels.counting import first_bad_count

BINARY = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
FEW_VALUES = 12
ROWS_PER_VALUE = 3
WORDS_IN_A_TEXT, TEXTS_TO_COUNT_WORDS_OF = 3.0, 1000
LONG_TAIL = 2.0
SMALL_COUNT = 20
MOSTLY, FIRST_NAMED = 0.8, 3
"""Categories of which this share are numbers are worth a warning, which names so many that are none."""

BY_TYPE = SetOption("types")
"""How a user says what a column holds; once said, it is not asked for again."""

A_NUMBER = re.compile(
    r"[-+−]?\s?(?:[€$£¥₹]\s?)?[-+]?(?:\d{1,3}(?:[.,'\s]\d{3})+|\d+)?(?:[.,]\d+|(?<=\d))(?:[eE][-+]?\d+)?\s?[€$£¥₹%]?"
)
"""A number in any of the usual formats."""


@dataclass(frozen=True)
class Guess:
    """A family (its name, or an instance) and why; "mixed" and "ignore" are no families.

    `otherwise` is what to guess where the family does not take all numbers of the column.
    A reason may count and measure, but holds no value of the data: it is kept in the model, and rows may be forgotten.
    """

    family: Any
    reason: str
    warning: str = ""
    otherwise: Guess | None = None


NOTHING_THERE = Guess("ignore", "every value is missing")


def guess_sparse(batch: Batch) -> Guess | None:
    """One guess for all columns of a sparse matrix; nothing for other batches."""
    if not isinstance(batch.columns, SparseColumns):
        return None
    if first_bad_count(batch.columns.matrix.data) < 0:
        return Guess("multinomial", "a sparse matrix of counts")
    return Guess("gaussian", "a sparse matrix of numbers that are no counts")


def guess_column(batch: Batch, name: str) -> Guess:
    """The family that fits the kind of values in a column."""
    raw = batch.columns.raw(batch.position(name))
    if isinstance(raw, list) or (isinstance(raw, np.ndarray) and raw.dtype == object):
        return guess_values(list(raw), name, is_only_column=batch.names == (TEXT,))
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "iuf":
        numbers = as_numbers(raw, name)
        return NOTHING_THERE if np.isnan(numbers).all() else guess_numbers(*found_in(numbers))
    try:
        raw = as_arrow(raw) if isinstance(raw, np.ndarray) else plain_column(raw)
    except ValuesRefused as problem:
        raise not_values(name, problem) from None
    if raw.null_count == len(raw):
        return NOTHING_THERE
    kind = raw.type.value_type if pa.types.is_dictionary(raw.type) else raw.type
    if pa.types.is_boolean(kind):
        return Guess("bernoulli", "truth values")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return guess_strings(raw, is_only_column=batch.names == (TEXT,))
    if pa.types.is_dictionary(raw.type) or any(is_kind(kind) for is_kind in BINARY):
        return Guess("categorical", "categories")
    found = found_in(as_numbers(raw, name))
    return guess_times(*found, time_kind(kind)) if time_kind(kind) else guess_numbers(*found)


def found_in(numbers: FloatArray) -> tuple[FloatArray, AnyArray]:
    """The different finite numbers, ascending, and how often each occurs."""
    distinct, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    return distinct, counts


def guess_times(seconds: FloatArray, counts: AnyArray, kind: str) -> Guess:
    """Few repeated times are categories, others lie about somewhere."""
    called = "dates" if kind == DATE else "times"
    if are_categories(len(seconds), counts.sum()):
        return Guess("categorical", f"only {len(seconds)} different {called}")
    return Guess("gaussian", called)


def guess_values(values: list[Any], name: str, is_only_column: bool) -> Guess:
    """The family of Python values that Arrow could not type: mixed ones, or ones too large or too odd for it."""
    try:
        keys = [key for key in map(key_of, values) if key is not None]
    except ValuesRefused as problem:
        raise not_values(name, problem) from None
    kinds = sorted({kind for kind, _ in keys})
    if len(kinds) > 1:
        return Guess("mixed", " and ".join(kinds))
    if not kinds:
        return NOTHING_THERE
    if kinds == ["number"]:
        return guess_numbers(*found_in(as_numbers(values, name)))
    if kinds == ["text"]:
        return guess_strings(values, is_only_column)
    return Guess("bernoulli", "truth values") if kinds == ["truth"] else Guess("categorical", "categories")


def confirmed(guess: Guess, batch: Batch, name: str) -> Guess:
    """The guess made on a sample, unless a row outside the sample contradicts it."""
    if guess.otherwise is None or bool(families.named(guess.family).takes(as_numbers_of(batch, name)).all()):
        return guess
    return guess.otherwise


def as_numbers_of(batch: Batch, name: str) -> FloatArray:
    """The numbers of a column that are there."""
    numbers = batch.numbers([name])
    return numbers[np.isfinite(numbers)]


def guess_strings(raw: Any, is_only_column: bool = False) -> Guess:
    """Categories, unless the values are many and long enough to be text, or all there is."""
    if is_only_column:
        return Guess("text", "strings and nothing else")
    if isinstance(raw, (pa.Array, pa.ChunkedArray)) and not pa.types.is_dictionary(raw.type):
        different, present = pc.unique(raw.cast(pa.large_string())).drop_null(), len(raw) - raw.null_count
        order = pc.sort_indices(different) if 2 * len(different) > present else pa.array([], pa.uint64())
        some = different.take(order[:: 1 + len(order) // TEXTS_TO_COUNT_WORDS_OF]).to_pylist()
        if (found := text_of_words(some, len(different), present)) is not None:
            return found
    coded = Coded.of(raw)
    counts = np.bincount(coded.codes[coded.codes >= 0], minlength=len(coded.keys))
    return guess_words([value for _, value in coded.keys], counts)


def text_of_words(some: Sequence[str], different: int, present: int) -> Guess | None:
    """Text, where most strings differ and some of them, evenly picked, have words enough; else nothing."""
    if different <= FEW_VALUES or 2 * different <= present:
        return None
    words = float(np.mean([words_in(text) for text in some]))
    if words < WORDS_IN_A_TEXT:
        return None
    return Guess("text", f"{different} different values of {words:.1f} words each")


def guess_words(texts: Sequence[str], counts: AnyArray) -> Guess:
    """Text or categories, from the different strings and how often each occurs."""
    some = texts[:: 1 + len(texts) // TEXTS_TO_COUNT_WORDS_OF]
    if (found := text_of_words(some, len(texts), counts.sum())) is not None:
        return found
    odd = next((text for text in texts if text in USUALLY_MISSING), None)
    said = "" if odd is None else f"; '{odd}' counts as a value, not as missing"
    return Guess("categorical", f"{len(texts)} different values{said}", warning_of_numbers(texts, counts))


def warning_of_numbers(texts: Sequence[str], counts: AnyArray) -> str:
    """What to know of categories that are mostly numbers; nothing where numbers so few would be categories, too."""
    are_numbers = np.array([A_NUMBER.fullmatch(text.strip()) is not None for text in texts])
    present, numbers = int(counts.sum()), int(counts[are_numbers].sum())
    if numbers < MOSTLY * present or are_categories(int(are_numbers.sum()), numbers):
        return ""
    if are_numbers.all():
        return Message("every value is a number, but a text: make it numbers (", BY_TYPE, "), else it is categories")
    first = np.flatnonzero(~are_numbers)[:FIRST_NAMED]
    named = [texts[index] for index in first]
    return Message(
        f"{numbers:,} of {present:,} values are numbers, but it is learned as categories because of "
        f"{', '.join(map(repr, named))}. Where that means missing: ",
        SetOption("na", named),
        "; else say what it is with ",
        BY_TYPE,
    )


def are_categories(values: int, rows: float) -> bool:
    """Whether so many different whole numbers in so many rows are as good as names."""
    return values <= FEW_VALUES and ROWS_PER_VALUE * values <= rows


def guess_numbers(distinct: FloatArray, counts: AnyArray) -> Guess:
    """Few repeated whole numbers are categories, others from zero up counts; a long tail asks for logarithms.

    Numbers are given once each, ascending, with how often they occur.
    """
    if not len(distinct):
        return Guess("gaussian", "numbers")
    whole = bool((distinct == np.floor(distinct)).all())
    if whole and are_categories(len(distinct), counts.sum()):
        return Guess("categorical", f"whole numbers with only {len(distinct)} different values")
    below = np.cumsum(counts, dtype=np.float64)
    if whole and distinct[0] == 0 and distinct[np.searchsorted(below, 0.5 * below[-1])] <= SMALL_COUNT:
        otherwise = Guess("gaussian", "numbers, though most are counts")
        return Guess("negative_binomial", "counts from 0 up", otherwise=otherwise)
    lean = skewness(distinct, counts)
    if distinct[0] > 0 and lean > LONG_TAIL and abs(skewness(np.log(distinct), counts)) < lean / 2:
        reason = f"positive, with a long right tail (skewness {lean:.1f})"
        otherwise = Guess("gaussian", "numbers with a long right tail, but not all above zero")
        return Guess("lognormal", reason, otherwise=otherwise)
    return Guess("gaussian", "numbers")


def skewness(values: FloatArray, counts: AnyArray) -> float:
    """How far the right tail of values that occur so often outweighs the left; 0 for a bell."""
    shares = counts / counts.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        away = values - (shares * values).sum()
        steps = away / (np.sqrt((shares * away * away).sum()) or 1.0)
        lean = float((shares * steps * steps * steps).sum())
    return lean if np.isfinite(lean) else 0.0
