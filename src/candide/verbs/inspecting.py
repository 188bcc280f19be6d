"""inspect: the card of a model, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from candide.bases.family import Block
from candide.statistics.sums import Sums
from candide.statistics.tally import Tally
from candide.statistics.word_tally import WordTally
from candide.values import shown
from candide.verbs.fitted import Fitted, opened

VALUES_SHOWN = 2
WORDS_SHOWN = 5


def inspect(model: Any) -> dict[str, Any]:
    """What a model knows: its classes with counts and priors, each column with family, reason and values in words."""
    fitted = opened(model)
    return {
        "label": fitted.label,
        "rows": fitted.rows,
        "classes": classes_of(fitted),
        "columns": columns_of(fitted),
        "options": fitted.learned.options.as_dict(),
        "provenance": dict(fitted.provenance),
        "notes": list(fitted.notes),
    }


def classes_of(fitted: Fitted) -> list[dict[str, Any]]:
    """Each class with its rows and its prior."""
    summary = fitted.learned.summary
    prior = np.exp(fitted.learned.model.log_prior) if summary.classes else ()
    return [
        {"class": value, "rows": int(count), "prior": float(share)}
        for (_, value), count, share in zip(summary.classes, summary.counts, prior, strict=True)
    ]


def columns_of(fitted: Fitted) -> list[dict[str, Any]]:
    """What was decided about each column, and what its values look like in each class."""
    summary = fitted.learned.summary
    words: dict[str, list[str]] = {}
    for block, seen in zip(summary.blocks, summary.statistics, strict=True):
        words |= in_words(block, seen)
    names = [shown(key) for key in summary.classes]
    return [
        {
            "column": choice.column,
            "family": choice.family.name if choice.family else None,
            "reason": choice.reason,
            "values": dict(zip(names, words.get(choice.column, ()), strict=False)),
        }
        for choice in fitted.learned.schema.choices
    ]


def in_words(block: Block, seen: Any) -> dict[str, list[str]]:
    """A few words for each column and class, by what is remembered: so a new family needs nothing here."""
    if isinstance(seen, Sums):
        weights, means, deviations = seen.weight.to_float(), seen.mean, seen.deviation
        return {
            name: [
                f"{short(mean)} ± {short(deviation)}" if weight else "never seen"
                for weight, mean, deviation in zip(weights[place], means[place], deviations[place], strict=True)
            ]
            for place, name in enumerate(block.columns)
        }
    if isinstance(seen, Tally) and isinstance(seen.slots, tuple):
        return commonest_values(seen)
    if isinstance(seen, Tally) and len(seen.slots) == 2 * len(block.columns):
        return shares_of_yes(block, seen)
    if isinstance(seen, WordTally):
        return {name: telling_words(seen) for name in block.columns}
    return {}


def short(number: float) -> str:
    """A number in few letters.

    >>> short(190340.9), short(36.783), short(0.00012345)
    ('190,341', '36.78', '0.0001234')
    """
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e9 else f"{number:.4g}"


def commonest_values(seen: Tally) -> dict[str, list[str]]:
    """The commonest values of each column, class by class, with their shares."""
    places: dict[str, list[int]] = {}
    for place, (name, _, _) in enumerate(seen.open_slots):
        places.setdefault(name, []).append(place)
    return {
        name: [commonest(seen, rows, label) for label in range(seen.classes)] for name, rows in places.items()
    }


def commonest(seen: Tally, places: list[int], label: int) -> str:
    """The commonest values of one column in one class."""
    counts = seen.counts[places, label]
    total = int(counts.sum())
    if not total:
        return "never seen"
    order = np.argsort(-counts, kind="stable")[:VALUES_SHOWN]
    slots = [(seen.open_slots[places[place]], int(counts[place])) for place in order.tolist()]
    return ", ".join(f"{brief(slot)} {count / total:.0%}" for slot, count in slots if count)


def brief(slot: tuple[str, str, Any]) -> str:
    """A value in few letters."""
    _, kind, value = slot
    text = "(missing)" if kind == "missing" else shown((kind, value))
    return text if len(text) <= 20 else text[:19] + "…"


def shares_of_yes(block: Block, seen: Tally) -> dict[str, list[str]]:
    """How often the answer was yes, where noes and yeses were counted."""
    no, yes = np.split(np.asarray(seen.counts), 2)
    return {
        name: [f"yes {y / (n + y):.0%}" if n + y else "never seen" for n, y in zip(no[place], yes[place], strict=True)]
        for place, name in enumerate(block.columns)
    }


def telling_words(seen: WordTally) -> list[str]:
    """The words that set each class apart: often there, and more often than in all classes together."""
    lines = seen.lines
    words = np.repeat(np.arange(len(seen)), np.diff(lines.indptr))
    with np.errstate(divide="ignore", invalid="ignore"):
        share = lines.counts / seen.class_totals[lines.labels]
        overall = seen.word_totals[words] / seen.class_totals.sum()
        telling = share * np.log(share / overall)
    found = []
    for label in range(seen.classes):
        places = np.flatnonzero((lines.labels == label) & (telling > 0))
        best = places[np.argsort(-telling[places], kind="stable")[:WORDS_SHOWN]]
        found.append(" ".join(spelled(seen, int(word)) for word in words[best]))
    return found


def spelled(seen: WordTally, word: int) -> str:
    """A word by its number."""
    start, stop = seen.lines.offsets[word : word + 2].tolist()
    return seen.lines.letters[start:stop].tobytes().decode("utf-8", "replace")
