"""A text typed into the page: what its terms say, for as many terms as there is room for, and what that leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.words import alphabet_ranges
from candide.families.words.options import TextOptions
from candide.families.words.parameters import TextParameters
from candide.show.pictures.occurrences import Occurrences

ROOM = 32_000
"""Numbers that the tables of all texts together may hold."""

FEWEST = 50
"""So many terms of each reading are there in any case."""


@dataclass(frozen=True)
class TextReading:
    """One way in which a text is read: how it is cut, how terms weigh, and what the strongest of them say."""

    recipe: Mapping[str, Any]
    rule: Occurrences
    terms: tuple[str, ...]
    table: FloatArray
    rate: FloatArray
    known: int
    """How many terms the model knows."""
    missed: float
    """The evidence of those that are left out, of all terms in all texts that were learned."""
    evidence: float

    @classmethod
    def of(cls, rule: Occurrences, parameters: TextParameters, room: int) -> TextReading:
        """The terms that said most in the texts learned: how often they were there times how far they part classes."""
        parameters = parameters.in_order
        weights, classes = parameters.score_weights, len(rule.constant)
        low, high = np.full(len(parameters), np.inf), np.full(len(parameters), -np.inf)
        for label in range(classes):
            said = parameters.shares(label, weights)
            low, high = np.minimum(low, said), np.maximum(high, said)
        with np.errstate(invalid="ignore"):
            apart = np.nan_to_num(high - low, nan=0.0, posinf=1e3)
        occurred = np.bincount(parameters.seen.words, np.abs(parameters.seen.counts), len(parameters))
        strength = apart * occurred
        kept = np.argsort(-strength, kind="stable")[: max(FEWEST, room // classes)]
        table = np.array([parameters.says(row, weights) for row in kept.tolist()]).reshape(len(kept), classes)
        terms = tuple(spelled_term(parameters, row) for row in kept.tolist())
        total, shown = float(strength.sum()), float(strength[kept].sum())
        recipe = recipe_for_page(parameters.options)
        return cls(recipe, rule, terms, table, weights.rate, len(parameters), max(total - shown, 0.0), total)


def spelled_term(parameters: TextParameters, row: int) -> str:
    """A term as it is counted: words and characters of any script with one space between."""
    return parameters.spelling(row).decode("utf-8", "replace")


def recipe_for_page(options: TextOptions) -> dict[str, Any]:
    """How a text is cut, for the script."""
    return {
        "characters": options.characters,
        "shortest": options.shortest,
        "longest": options.longest,
        "case": options.fold_case,
        "accents": options.fold_accents,
        "spaced": options.words == "spaced",
    }


def can_be_typed(rule: Occurrences | None) -> bool:
    """Whether the page can cut a text as the model does: by the alphabet of the package, into terms that have names."""
    if rule is None or rule.parameters is None or rule.certain:
        return False
    return rule.parameters.options.words != "sklearn" and not rule.parameters.options.hashed


def alphabet_for(readings: Iterable[TextReading]) -> dict[str, str]:
    """The characters of words and how they fold, as far as these readings need them."""
    recipes = [reading.recipe for reading in readings]
    if not recipes:
        return {}
    found = {"cases": alphabet_ranges.CASES if any(one["case"] for one in recipes) else ""}
    if any(one["accents"] for one in recipes):
        found["accents"] = alphabet_ranges.ACCENTS
    if any(one["characters"] for one in recipes):
        found["spaces"] = alphabet_ranges.SPACES
    if any(not one["characters"] for one in recipes):
        found |= {
            "words": alphabet_ranges.WORDS,
            "alone": alphabet_ranges.UNSPACED + alphabet_ranges.EMOJI,
            "marks": alphabet_ranges.MARKS,
            "looks": alphabet_ranges.LOOKS,
        }
    return {name: " ".join(written.split()) for name, written in found.items() if written}
