"""A trained model as the bytes of its file, and back; all of it but provenance counts as the model."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib.metadata import version
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray
from candide.data.errors import Location
from candide.families import names as family_names
from candide.families.base.family import AnyFamily, Block
from candide.families.base.undecided import Undecided
from candide.families.pairs.pair import Pair
from candide.model.domain import HOLDS
from candide.model.evaluation import whole
from candide.model.expected import Expected
from candide.model.options import Options
from candide.model.schema import GUESS, LEFT_OUT, Choice, Schema
from candide.model.summary import Summary
from candide.model.trained_model import TrainedModel
from candide.model.tuning import UNTUNED, Tuning
from candide.statistics.ledger import BYTES, HASH, Ledger
from candide.statistics.weight_grid import CEILING
from candide.store.container import Buffer, container_pieces, contents, from_json, to_json
from candide.store.forms import form_of, read_units, write_units
from candide.store.keys import key_arrays, read_keys, refuse_disorder
from candide.store.layer import layer_arrays, layer_data, read_layer
from candide.store.messages import message_data, read_message
from candide.store.parts import Parts, named_under
from candide.store.plain import built, family_from_plain, from_plain, plain_family, plain_fields, to_plain
from candide.store.refusals import ModelFileRefused

BLOCK = "block {}"
HERE = "local"
"""The engine of every model in a file: whoever loads it answers rows where it is."""

ALL, ALL_AND_MISSING = "all", "all and missing"
"""What is remembered of a column that was left open."""

FREE_MEMORY, MEMORY_A_BYTE = 2**28, 64
"""What any file may ask for, and how much more for each byte it holds."""


def provenance(sources: Sequence[str], rows: int) -> dict[str, Any]:
    """Where a model comes from: for people to read, and outside equality."""
    return {
        "sources": list(sources),
        "rows": rows,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "versions": {"candide": version("candide"), "numpy": np.__version__, "python": platform.python_version()},
    }


def to_bytes(trained: TrainedModel) -> bytes:
    """The model file as bytes."""
    return b"".join(file_pieces(trained))


def canonical_bytes(trained: TrainedModel) -> bytes:
    """The model file without provenance and what was measured or warned of in `fit`: equal models, equal bytes."""
    plain = replace(trained, schema=trained.schema.without_warnings(), tuning=replace(trained.tuning, quality=None))
    return to_bytes(replace(plain, provenance={}))


def file_pieces(trained: TrainedModel) -> list[Buffer]:
    """The model file in pieces, to be written one after the other."""
    blocks = trained.summary.blocks
    forms = [form_of(block) for block in blocks]
    model = {
        "label": trained.label,
        "options": to_plain(replace(trained.options, engine=HERE).as_dict()),
        "schema": schema_data(trained.schema),
        "statistics": [form.name for form in forms],
    }
    if trained.tuning != UNTUNED:
        model["tuning"] = to_plain(trained.tuning.to_dict())
    arrays, layer = summary_arrays(trained.summary), trained.tuning.layer
    if layer is not None:
        model["layer"] = to_plain(layer_data(layer))
        arrays |= named_under("layer", layer_arrays(layer))
    if trained.expected is not None:
        model["expected"] = {"rows": trained.expected.rows, "labelled": trained.expected.labelled}
        arrays |= named_under("expected", summary_arrays(trained.expected.summary))
    if trained.ledger is not None:
        arrays |= named_under("ledger", ledger_arrays(trained.ledger))
    provenance = to_json(to_plain(dict(trained.provenance)))
    texts, newest = {"model": to_json(model), "provenance": provenance}, max([1, *(form.version for form in forms)])
    return container_pieces(texts, arrays, newest)


def from_bytes(data: Buffer, name: str = "This") -> TrainedModel:
    """The model in a file's bytes, every part of it checked. `name` is what an error calls it.

    Arrays are views of `data`: give a memory map, and only what is used is read.
    """
    reason: str
    advice: str
    try:
        return read_model(*contents(data))
    except ModelFileRefused as problem:
        reason, advice = str(problem.what), problem.advice
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as problem:
        reason, advice = f"its contents make no sense ({type(problem).__name__}: {str(problem)[:200]})", ""
    raise ModelFileRefused(
        f"{name} cannot be used as a Candide model: {reason}{'' if reason.endswith('.') else '.'}",
        advice=advice,
        where=Location(name.strip("'")),
    )


def read_model(texts: Mapping[str, str], arrays: Mapping[str, AnyArray]) -> TrainedModel:
    """The model from texts and arrays that are as they were written."""
    if set(texts) != {"model", "provenance"}:
        raise ModelFileRefused("its head lacks a text, or has one too many")
    model, origin = from_json(texts["model"]), from_plain(from_json(texts["provenance"]))
    label, options = model.pop("label"), from_plain(model.pop("options"))
    schema, forms = read_schema(model.pop("schema")), model.pop("statistics")
    tuning, unlabelled = Tuning.from_dict(from_plain(model.pop("tuning", {}))), model.pop("expected", None)
    parts, layer = Parts(arrays), model.pop("layer", None)
    if layer is not None:
        tuning = replace(tuning, layer=read_layer(from_plain(layer), parts.under("layer")))
    if model or type(options) is not dict or type(origin) is not dict or not isinstance(label, str | None):
        raise ModelFileRefused("its head does not say what it should")
    ledger = read_ledger(parts.under("ledger")) if options.get("ledger") else None
    expected = None
    if unlabelled is not None:
        counts = read_summary(parts.under("expected"), schema.memory_blocks, forms)
        expected = Expected(counts, **{name: amount_of_rows(number) for name, number in unlabelled.items()})
    summary = read_summary(parts, schema.memory_blocks, forms)
    if ledger is not None and weight_of(ledger) != weight_of(summary):
        raise ModelFileRefused(f"its ledger lists {ledger.total:,} rows where its summary holds {summary.rows:,}")
    return TrainedModel(Options(**options), schema, summary, label, tuning, ledger, origin, expected)


def amount_of_rows(number: Any) -> float:
    """How much rows weighed, as it was written."""
    if type(number) not in (int, float) or not 0 <= number < CEILING:
        raise ModelFileRefused("it does not say how many rows had no label")
    return whole(number)


def weight_of(kept: Ledger | Summary) -> Fraction:
    """The weight of all rows together, exactly."""
    return Fraction(sum(kept.units.tolist()), 1 << kept.bits)


def schema_data(schema: Schema) -> dict[str, Any]:
    """Each column's name with the numbers of its family, its reason and further readings, which columns share."""
    families: dict[AnyFamily, int] = {}
    reasons: dict[str, int] = {}
    columns = [
        [
            choice.column,
            None if choice.family is None else families.setdefault(choice.family, len(families)),
            reasons.setdefault(choice.reason, len(reasons)),
            *(families.setdefault(family, len(families)) for family in choice.auxiliary),
        ]
        for choice in schema.choices
    ]
    data: dict[str, Any] = {"columns": columns, "reasons": list(reasons)}
    warnings = {column: message_data(warning) for column, warning in schema.warnings.items()}
    remembered = {column: memory_data(family, families) for column, family in schema.remembered.items()}
    data["families"] = [plain_family(family) for family in families]
    rules = {choice.column: choice.rule for choice in schema.choices if choice.rule}
    more = {"warnings": warnings, "kinds": schema.kinds, "holds": schema.holds, "remembered": remembered}
    pairs = [plain_fields(pair) for pair in schema.pairs]
    return {**data, **{name: said for name, said in (more | {"rules": rules, "pairs": pairs}).items() if said}}


def memory_data(family: AnyFamily, families: dict[AnyFamily, int]) -> int | str:
    """What is remembered of an open column: all of it, in words, or the number of a family."""
    if isinstance(family, Undecided):
        return ALL_AND_MISSING if family.missing_is_value else ALL
    return families.setdefault(family, len(families))


def read_memory(data: int | str, families: Sequence[AnyFamily]) -> AnyFamily:
    """What `memory_data` wrote."""
    if data in (ALL, ALL_AND_MISSING):
        return Undecided(missing_is_value=data == ALL_AND_MISSING)
    if type(data) is not int or data < 0:
        raise ModelFileRefused("its schema does not say what it should")
    return families[data]


def read_schema(data: Mapping[str, Any]) -> Schema:
    """The schema, no column twice."""
    families = [family_from_plain(family) for family in data["families"]]
    warnings = {column: read_message(warning) for column, warning in data.get("warnings", {}).items()}
    remembered = {column: read_memory(memory, families) for column, memory in data.get("remembered", {}).items()}
    rules, reasons = data.get("rules", {}), data["reasons"]
    more = [warnings, data.get("kinds", {}), data.get("holds", {})]
    choices = []
    for column, family, reason, *auxiliary in data["columns"]:
        warning, kind, holds = (texts.get(column, "") for texts in more)
        said = [column, reasons[reason], warning, kind, holds]
        if not all(isinstance(text, str) for text in said) or min(family or 0, reason, *auxiliary) < 0:
            raise ModelFileRefused("its schema does not say what it should")
        further = tuple(families[index] for index in auxiliary)
        chosen = None if family is None else families[family]
        memory, rule = remembered.get(column), rules.get(column, "")
        choices.append(Choice(column, chosen, reasons[reason], further, warning, kind, holds, memory, rule))
    columns = {choice.column for choice in choices}
    if not {*rules.values()} <= {GUESS, LEFT_OUT, *family_names()}:
        raise ModelFileRefused("its schema has a rule that this Candide does not know")
    if len(columns) != len(choices) or not all(columns.issuperset(texts) for texts in (*more, remembered, rules)):
        raise ModelFileRefused("its schema names a column twice, or speaks of one that is not there")
    if not {choice.holds for choice in choices} <= {*HOLDS}:
        raise ModelFileRefused("its schema says of a column that it holds what no column can")
    pairs = tuple(built(Pair, pair) for pair in data.get("pairs", []))
    paired = {pair.columns for pair in pairs}
    if len(paired) < len(pairs) or not columns.issuperset(column for pair in paired for column in pair):
        raise ModelFileRefused("its schema names a pair of columns twice, or one that is not there")
    return Schema(tuple(choices), pairs)


def summary_arrays(summary: Summary) -> dict[str, AnyArray]:
    """Classes, and what each block remembers."""
    arrays = class_arrays(summary)
    for number, (block, seen) in enumerate(zip(summary.blocks, summary.statistics, strict=True)):
        arrays |= named_under(BLOCK.format(number), form_of(block).write(seen, block))
    return arrays


def class_arrays(summary: Summary) -> dict[str, AnyArray]:
    """Class keys, the weight of each class, and whether it was declared."""
    declared = np.array([key in summary.declared for key in summary.classes], dtype=np.uint8)
    named = {**key_arrays(summary.classes), **write_units(summary.units, summary.bits), "declared": declared}
    return named_under("classes", named)


def ledger_arrays(ledger: Ledger) -> dict[str, AnyArray]:
    """The hash of each different row, and its weight."""
    hashes = np.frombuffer(ledger.hashes.tobytes(), dtype=np.uint8).reshape(len(ledger), BYTES)
    return {"hashes": hashes, **write_units(ledger.units, ledger.bits)}


def read_ledger(parts: Parts) -> Ledger:
    """The ledger: hashes in ascending order, each of a row that was learned."""
    units, bits = read_units(parts, None)
    raw = parts.take("hashes", np.uint8, len(units), BYTES)
    parts.refuse_rest()
    hashes = np.frombuffer(raw.tobytes(), HASH)
    if units.size and not (units.min() >= 1 and (hashes[1:] > hashes[:-1]).all()):
        raise ModelFileRefused("its ledger is not in canonical form")
    return Ledger(hashes, units, bits)


def read_summary(parts: Parts, blocks: tuple[Block, ...], names: Sequence[str]) -> Summary:
    """The summary, in canonical form and with the shapes that its blocks ask for."""
    of_classes = parts.under("classes")
    classes = read_keys(of_classes)
    refuse_disorder(classes)
    counts, bits = read_units(of_classes, len(classes))
    declared = of_classes.take("declared", np.uint8, len(classes))
    if declared.size and (declared.max() > 1 or not (declared | (counts > 0)).all() or sum(counts.tolist()) > CEILING):
        raise ModelFileRefused("its classes are not in canonical form")
    of_classes.refuse_rest()
    refuse_more_memory(blocks, len(classes), parts.held)
    statistics = tuple(
        read_statistic(parts.under(BLOCK.format(number)), block, name, len(classes))
        for number, (block, name) in enumerate(zip(blocks, names, strict=True))
    )
    parts.refuse_rest()
    kept = frozenset(classes[index] for index in np.flatnonzero(declared))
    summary = Summary(blocks, tuple(classes), counts, statistics, kept, bits)
    refuse_forged(summary.impossible())
    return summary


def refuse_more_memory(blocks: Sequence[Block], classes: int, held: int) -> None:
    """Raise where parameters would need far more memory than the file has bytes, whatever they say."""
    needed = sum(block.family.memory(len(block.columns), classes) for block in blocks)
    if needed > FREE_MEMORY + MEMORY_A_BYTE * held:
        raise ModelFileRefused(
            f"its {held:,} bytes ask for {needed // 2**20:,} MB of memory, far more than what it holds can fill"
        )


def read_statistic(parts: Parts, block: Block, name: str, classes: int) -> Any:
    """What one block remembers."""
    form = form_of(block)
    if name != form.name:
        raise ModelFileRefused(f"it keeps {name!r} for '{block.family.name}', which needs {form.name!r}")
    statistic = form.read(parts, block, classes)
    parts.refuse_rest()
    refuse_forged(statistic.impossible())
    return statistic


def refuse_forged(reason: str) -> None:
    """Raise where no rows could have left what the file holds."""
    if reason:
        raise ModelFileRefused(f"it holds {reason}, so it was forged or damaged before it was written")
