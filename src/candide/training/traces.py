"""What must leave a model beside the sums when rows are forgotten: names and traces that only those rows had.

Sums subtract, so they are exactly as if the rows had never been. Beside them a model holds what is known by name (the
columns of the schema, the classes and blocks of the calibration) and what was measured. A name goes with the last row
that had it; what was measured, with the first that is forgotten. Choices stay: bin edges, families, smoothing and the
numbers of the calibration were made with the rows that are gone, and only choosing anew (`refit`) frees them of these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from candide.data.batch import default_names
from candide.data.values import Key
from candide.families.base.family import Block
from candide.model.calibration import Calibration
from candide.model.linear_layer import LinearLayer
from candide.model.novelty import Novelty
from candide.model.schema import Schema
from candide.model.summary import Summary
from candide.model.tuning import Tuning

Part = TypeVar("Part")

CHOICES_REMEMBER = (
    "Calibration and whatever else was chosen from whole rows may still bear traces of these; choosing anew from the "
    "rows that are left, with refit, leaves none."
)

EXTREMES = re.compile(r"(numbers|counts) from \S+ to [^\s;]+")
"""How reasons once told the smallest and largest value."""


def scrubbed(
    schema: Schema, before: Summary, after: Summary, tuning: Tuning, declared: Collection[str]
) -> tuple[Schema, Summary, Tuning]:
    """Schema, summary and tuning once rows were forgotten, without the names that only those rows had.

    `declared` are the columns that the user named: like declared classes they stay.
    """
    gone = set() if is_array(schema) else before.held - after.held - set(declared)
    kept = without_values(schema, gone)
    summary = after.narrowed(kept.memory_blocks) if gone else after
    left = without_traces(tuning, schema.blocks, kept.blocks, summary.classes)
    if left.layer is not None:
        left = replace(left, layer=layer_within(left.layer, kept.read(summary)))
    return kept, summary, left


def is_array(schema: Schema) -> bool:
    """Whether the columns are places in an array, which have no names of their own and cannot move up."""
    return schema.columns == default_names(len(schema.columns))


def without_values(schema: Schema, gone: Collection[str] = ()) -> Schema:
    """The schema without some columns, and without warnings; no reason names those columns, or a value of the data."""
    kept = schema.without(gone).without_warnings()
    return replace(kept, choices=tuple(replace(c, reason=scrubbed_reason(c.reason, gone)) for c in kept.choices))


def scrubbed_reason(reason: str, gone: Collection[str]) -> str:
    """A reason that names no column that is gone, nor extremes, as older models did.

    >>> scrubbed_reason("it is the same as 'age' in every row", ["age"])
    'it is the same as another column in every row'
    """
    for name in gone:
        reason = reason.replace(f"'{name}'", "another column")
    return EXTREMES.sub(r"\1", reason)


def without_traces(tuning: Tuning, before: Sequence[Block], after: Sequence[Block], classes: Collection[Key]) -> Tuning:
    """The tuning of the classes and blocks that are left, by their present names; how well it did is not kept."""
    names = {block.family: block.key for block in before}
    keys = {names[block.family]: block.key for block in after}
    layer, novelty = tuning.layer, tuning.novelty
    if layer is not None:
        layer = layer.only(columns_read(after), classes)
    speaks = layer is not None and layer.table is not None
    calibration = tuning.calibration if speaks else tuning.calibration_alone
    return Tuning(
        None if calibration is None else calibration_of(calibration, keys, classes),
        None if novelty is None else novelty_without(novelty, keys),
        rows=tuning.rows,
        layer=layer if layer is not None and (layer.columns or speaks) else None,
    )


def columns_read(blocks: Sequence[Block]) -> set[str]:
    """The columns that blocks read."""
    return {name for block in blocks for name in block.columns}


def layer_within(layer: LinearLayer, reading: Summary) -> LinearLayer:
    """A layer without terms of words that no row holds any more."""
    columns = dict(layer.columns)
    for block, seen in zip(reading.blocks, reading.statistics, strict=True):
        name = block.columns[0]
        if name in columns and block.family.can_be_refined and reads_words(block):
            words = {*seen.words()}
            held = [index for index, term in enumerate(columns[name].words) if words.issuperset(term.split(b" "))]
            columns[name] = columns[name].kept(np.array(held, dtype=np.int64))
    return replace(layer, columns=columns)


def reads_words(block: Block) -> bool:
    """Whether every word of a text is counted by itself."""
    options = block.family.options  # type: ignore[attr-defined]  # only texts can be refined
    return options.shortest == 1 and not options.characters


def calibration_of(found: Calibration, keys: Mapping[str, str], classes: Collection[Key]) -> Calibration:
    """The calibration of these classes and blocks alone."""
    bias = {key: amount for key, amount in found.bias.items() if key in classes}
    return Calibration(bias, renamed(found.weight, keys), renamed(found.power, keys))


def novelty_without(found: Novelty, keys: Mapping[str, str]) -> Novelty:
    """How familiar rows were by the blocks that are left."""
    return replace(found, quantiles=renamed(found.quantiles, keys), families=renamed(found.families, keys))


def renamed(parts: Mapping[str, Part], keys: Mapping[str, str]) -> dict[str, Part]:
    """The parts of the blocks that are left, by the keys they now have."""
    return {keys[key]: part for key, part in parts.items() if key in keys}


def without_origin(before: Mapping[str, Any]) -> dict[str, Any]:
    """Provenance that tells when things were done to the model, but not with which rows or how many."""
    if not before:
        return {}
    events = [{name: event[name] for name in ("verb", "when") if name in event} for event in before.get("events", [])]
    return {**{name: before[name] for name in ("created", "versions") if name in before}, "events": events}
