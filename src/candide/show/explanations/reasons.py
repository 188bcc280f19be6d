"""Which reasons are shown by themselves, what the rest is called, and what each is made of: the same on every face."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray
from candide.families.base.explaining import CHARACTER_RUNS, Term
from candide.model.explanation import Evidence, Explanation

WORDS_SHOWN = 12
FEATURES_SHOWN = 30
BY_ITSELF = "by itself"


class Selected(NamedTuple):
    """Evidence by its number, the strongest first, and what is left, by the name of all of it together."""

    indices: list[int]
    rest: dict[str, list[int]]


def shown_and_rest(why: Explanation, sizes: FloatArray) -> Selected:
    """The strongest words and features by their sizes; what is left is one line for all words, one for all else."""
    ranked = np.argsort(-np.round(sizes, 9), kind="stable").tolist()
    words = [index for index in ranked if why.evidence[index].word]
    others = [index for index in ranked if not why.evidence[index].word]
    kept = {*words[:WORDS_SHOWN], *others[:FEATURES_SHOWN]}
    rest = {"word": words[WORDS_SHOWN:], "feature": others[FEATURES_SHOWN:]}
    named = {f"{len(left):,} other {name}{'s' * (len(left) > 1)}": left for name, left in rest.items() if left}
    return Selected([index for index in ranked if index in kept], named)


def sides_told(why: Explanation, leads: FloatArray, labels: tuple[int, int]) -> str:
    """How many of some reasons speak for which class, and how much."""
    sides = zip(labels, (leads[leads > 0], leads[leads < 0]), strict=True)
    said = [f"{len(side):,} for {why.classes[label]} {side.sum():+.3f}" for label, side in sides if len(side)]
    return ", ".join(said)


def evidence_name(one: Evidence) -> str:
    """A feature with its value; a word by itself, unless it occurs several times."""
    bare = one.column and one.value in ("", "1")
    return one.feature if bare else f"{one.feature} = {one.value}"


def made_of(why: Explanation, one: Evidence, labels: tuple[int, int]) -> str:
    """What the evidence was made of: counts or a curve, and of a word how much it speaks through which runs."""
    leads = one.by_run(*labels)
    said = [counts_told(why, one.strongest(run, *labels), labels) for run in runs_told(leads)]
    if one.word and set(leads) != {""}:
        said.append(parts_told(leads.items()))
    return "; ".join(filter(None, said))


def runs_told(leads: Mapping[str, float]) -> list[str]:
    """Whose counts are told: those of the word itself, and of the kind of run that says more, if of whole words.

    >>> runs_told({"": 0.1, "pairs of words": -0.3, "runs of characters": 0.9}), runs_told({"runs of characters": 0.9})
    (['', 'pairs of words'], ['runs of characters'])
    """
    own = [""] if "" in leads else []
    runs = sorted((run for run in leads if run), key=lambda run: -abs(leads[run]))
    louder = [run for run in runs if run != CHARACTER_RUNS and abs(leads[run]) > abs(leads.get("", 0.0))]
    return own + louder[:1] or runs[:1]


def counts_told(why: Explanation, term: Term, labels: tuple[int, int]) -> str:
    """What is behind one term, which is named where it is not the word itself."""
    said = term.basis.text(why.classes, labels) if term.basis else ""
    return f"“{with_visible_spaces(term.word)}” {said}" if term.run else said


def parts_told(leads: Iterable[tuple[str, float]]) -> str:
    """How much of a word's evidence is its own.

    >>> parts_told([("", 0.71), ("pairs of words", -0.2)])
    'by itself +0.710, in pairs of words -0.200'
    """
    return ", ".join(f"{f'in {run}' if run else BY_ITSELF} {round(lead, 3) + 0.0:+.3f}" for run, lead in leads)


def with_visible_spaces(run: str) -> str:
    """A run of letters with its spaces visible, if it begins or ends with one.

    >>> with_visible_spaces("free prize"), with_visible_spaces(" fre")
    ('free prize', '␣fre')
    """
    return run if run == run.strip() else run.replace(" ", "␣")
