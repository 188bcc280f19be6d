"""inspect: the card of a model, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.api.verbs.fitted import Fitted, opened_model
from candide.api.verbs.holdings import what_columns_hold
from candide.api.verbs.looks import in_words, most_telling_points, parameters_of, telling_of
from candide.api.verbs.reading import expected_kinds, labelled_source
from candide.data.arrays import FloatArray
from candide.data.values import shown
from candide.families.base.family import Block
from candide.families.base.profile import EVENTS, Profile, entropy
from candide.model.schema import Choice
from candide.training.knows import knows_rows

CELLS_TOLD = 3
"""Of a pair so many cells are told."""


def inspect(model: Any, *, knows: Any = None) -> dict[str, Any]:
    """What a model knows, how it came to know it, and how good it is.

    Its classes with counts and priors; each column with family, reason, parameters, the values or words that tell most,
    how many bits it tells about the class, and what it holds: bounds, quantiles, how much is missing; the calibration,
    which pairs of columns speak together, and the values that say most; what was learned, and how well left-out rows
    fared.
    `knows` are rows with labels, of which a model with a ledger tells whether they are in it.
    """
    fitted = opened_model(model)
    return {
        "label": fitted.label,
        "rows": fitted.rows,
        "classes": classes_of(fitted),
        "bits": entropy(prior_of_classes(fitted)),
        "quality": quality_of(fitted),
        "columns": column_cards(fitted),
        "pairs": pair_cards(fitted),
        "calibration": calibration_card(fitted),
        "layer": layer_card(fitted),
        "expected": expected_card(fitted),
        "options": fitted.trained.options.as_dict(),
        "provenance": dict(fitted.provenance),
        "notes": list(fitted.notes),
        "ledger": None if fitted.trained.ledger is None else {"different": len(fitted.trained.ledger)},
        "knows": None if knows is None else known_rows(fitted, knows),
    }


def known_rows(fitted: Fitted, data: Any) -> dict[str, Any]:
    """How many of these rows are in the model, and which are not, counted from 1."""
    source = labelled_source(data, fitted.label, expected_kinds(fitted.trained), {})
    found = np.concatenate([knows_rows(fitted.trained, batch) for batch in source.batches()])
    return {"rows": len(found), "known": int(found.sum()), "unknown": (np.flatnonzero(~found) + 1).tolist()}


def prior_of_classes(fitted: Fitted) -> FloatArray:
    """The prior of each class; none where every row was forgotten."""
    return np.exp(fitted.trained.predictor.log_prior) if fitted.trained.summary.classes else np.zeros(0)


def classes_of(fitted: Fitted) -> list[dict[str, Any]]:
    """Each class with its rows and its prior."""
    summary = fitted.trained.summary
    return [
        {"class": value, "rows": count, "prior": float(share)}
        for (_, value), count, share in zip(
            summary.classes, summary.counts.tolist(), prior_of_classes(fitted), strict=True
        )
    ]


def quality_of(fitted: Fitted) -> dict[str, Any] | None:
    """How well rows fared that were left out when the model was made; nothing where that was not measured."""
    found = fitted.trained.tuning.quality
    if found is None:
        return None
    names = ("kind", "rows", "right", "accuracy", "baseline", "balanced_accuracy", "roc_area", "average_precision",
             "log_loss", "raw_log_loss", "calibration_error", "calibration_error_by_chance")  # fmt: skip
    return {
        **{name: getattr(found, name) for name in names},
        "interval": list(found.interval),
        "curve": [point._asdict() for point in found.curve],
    }


def calibration_card(fitted: Fitted) -> dict[str, Any] | None:
    """What is added to classes and what blocks are multiplied by; nothing where probabilities are as they come.

    `rows` is how many rows there were when it was fitted, if that is known: learning more does not change it.
    """
    found = fitted.trained.tuning.calibration
    if found is None:
        return None
    return {
        "bias": {shown(key): float(found.bias.get(key, 0.0)) for key in fitted.trained.summary.classes},
        "weight": dict(found.weight),
        "power": dict(found.power),
        "rows": fitted.trained.tuning.rows or None,
    }


def layer_card(fitted: Fitted) -> dict[str, Any] | None:
    """A linear layer: how many terms of each text, or which columns, it weighs, how strongly, and since when."""
    found = fitted.trained.tuning.layer
    if found is None:
        return None
    terms = {name: len(weighed) for name, weighed in found.columns.items()}
    card = {"kind": "linear", "terms": terms, "strength": found.strength, "rows": found.rows}
    if found.table is None:
        return card
    return {**card, "table": {"columns": list(found.table.columns), "beside": found.table.beside}}


def expected_card(fitted: Fitted) -> dict[str, Any] | None:
    """How many rows had no label, as how many they count, and how many labelled rows there were when that was found.

    Nothing where all rows had one. Learning, forgetting and merging leave it as it is.
    """
    found = fitted.trained.expected
    if found is None:
        return None
    return {"rows": found.rows, "counted": found.summary.rows, "labelled": found.labelled}


def column_cards(fitted: Fitted) -> list[dict[str, Any]]:
    """What was decided about each column, what its values look like in each class, and how much they tell.

    Columns of counts that share a total tell it `together`: the first of them speaks for all. A text may be read in
    `further` ways. What a column `held`, whatever its family, is known where that was left open.
    """
    looks: dict[str, dict[str, Any]] = {}
    further: dict[str, list[dict[str, Any]]] = {}
    held = what_columns_hold(fitted.trained.summary, fitted.trained.schema.kinds)
    for block, profile in profiles_of(fitted):
        look = look_of(fitted, block, profile)
        if block.family.is_auxiliary:
            further.setdefault(block.columns[0], []).append({"reading": profile.column, **look})
        elif profile.kind == EVENTS and len(block.columns) > 1:
            looks |= {name: {"together": profile.column} for name in block.columns}
            looks[block.columns[0]] |= look
        else:
            looks[profile.column] = look
    return [
        {
            **decision(choice),
            **looks.get(choice.column, {}),
            "further": further.get(choice.column, []),
            "held": held.get(choice.column),
        }
        for choice in fitted.trained.schema.choices
    ]


def pair_cards(fitted: Fitted) -> list[dict[str, Any]]:
    """Which pairs of columns speak together, the loudest first, and what their loudest cells say.

    `rows` are those in a cell; `says` is the class it speaks for, by `lead` nats over the one it speaks against most.
    """
    if not fitted.trained.summary.classes:
        return []
    names = [value for _, value in fitted.trained.summary.classes]
    return [
        {
            "columns": [part.column for part in look.parts],
            "factor": look.factor,
            "cells": [
                {
                    "values": look.values_shown(cell),
                    "rows": float(look.counts[cell].sum()),
                    "says": names[int(look.evidence[cell].argmax())],
                    "lead": float(np.ptp(look.evidence[cell])),
                }
                for cell in look.ranked[:CELLS_TOLD]
            ],
        }
        for look in fitted.trained.predictor.pairs
    ]


def profiles_of(fitted: Fitted) -> list[tuple[Block, Profile]]:
    """Every profile with its block; none where every row was forgotten."""
    if not fitted.trained.summary.classes:
        return []
    model = fitted.trained.predictor
    return [(block, found) for index, block in enumerate(model.blocks) for found in model.profiles_of(index)]


def decision(choice: Choice) -> dict[str, Any]:
    """The family of a column, and why; the rest is there for columns that were learned."""
    return {
        "column": choice.column,
        "family": choice.family.name if choice.family else None,
        "reason": choice.reason,
        "warning": choice.warning or None,
        "smoothing": choice.family.smoothing if choice.family else None,
        "information": None,
        "per": None,
        "together": None,
        "factor": None,
        "vocabulary": None,
        "parameters": {},
        "telling": {},
        "values": {},
    }


def look_of(fitted: Fitted, block: Block, profile: Profile) -> dict[str, Any]:
    """What a profile tells: its information is that of a value, or of one word or event."""
    names = [shown(key) for key in fitted.trained.summary.classes]
    best, events = most_telling_points(profile, prior_of_classes(fitted)), profile.kind == EVENTS
    return {
        "smoothing": block.family.smoothing,
        "information": profile.information,
        "per": per(block, profile),
        "factor": profile.factor,
        "vocabulary": profile.vocabulary if events else None,
        "parameters": parameters_of(profile, names),
        "telling": telling_of(profile, names, best),
        "values": in_words(profile, names, best),
    }


def per(block: Block, profile: Profile) -> str:
    """Of what the information is: a value, or one occurrence of a word, of another term of a text, or of an event."""
    if profile.kind != EVENTS:
        return "value"
    if not block.family.has_length:
        return "event"
    return "term" if block.family.aspect else "word"
