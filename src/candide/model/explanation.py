"""Why a row got its answer: the prior and one term a feature, adding up to the score the answer comes from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from candide.data.arrays import AnyArray, FloatArray
from candide.data.cached import cached_property
from candide.families.base.explaining import IGNORED, MISSING, UNSEEN, Silence, Term
from candide.model.beyond import Beyond
from candide.model.strange import Strange

BETWEEN = "between words"
"""What the evidence of a text is called that lies in no word: punctuation and spaces."""


class Part(NamedTuple):
    """What a term gives to one piece of evidence: all of it, or the share of the word at a place of its text."""

    term: Term
    share: float = 1.0
    place: tuple[int, int] = (0, 0)

    def lead(self, first: int, second: int) -> float:
        """The log odds it gives one class over another; 0 where both are impossible."""
        said, factor = self.term.log_likelihood, self.term.factor
        if self.term.added is not None:
            said, factor = self.term.added, 1.0
        lead = self.share * factor * (float(said[first]) - float(said[second]))
        return 0.0 if math.isnan(lead) else lead


@dataclass(frozen=True)
class Evidence:
    """What one feature adds to the reported score of each class: a term, or all that speaks through one word.

    A word speaks by itself and through the runs of words and of characters that it is part of.
    """

    feature: str
    value: str
    reported: FloatArray
    parts: tuple[Part, ...]
    column: str = ""
    word: str = ""

    @property
    def log_likelihood(self) -> FloatArray:
        """What it adds to the raw score of each class."""
        return sum((part.share * part.term.log_likelihood for part in self.parts), np.zeros_like(self.reported))

    @property
    def places(self) -> tuple[tuple[int, int], ...]:
        """Where the word stands in its text."""
        return tuple(dict.fromkeys(part.place for part in self.parts)) if self.word else ()

    def by_run(self, first: int, second: int) -> dict[str, float]:
        """The log odds it gives one class over another by itself (""), and through each kind of run."""
        found: dict[str, float] = {}
        for part in self.parts:
            found[part.term.run] = found.get(part.term.run, 0.0) + part.lead(first, second)
        return found

    def strongest(self, run: str, first: int, second: int) -> Term:
        """The term of a kind of run that says most about one class over another."""
        parts = [part for part in self.parts if part.term.run == run]
        return max(parts, key=lambda part: abs(part.lead(first, second))).term


@dataclass(frozen=True)
class Flip:
    """The fewest features without which another class would have won, strongest first, and that class."""

    features: tuple[str, ...]
    answer: Any


@dataclass(frozen=True, eq=False)
class Explanation:
    """Plain data: everything the answer is made of, as logarithms for each class.

    Raw: `joint` = prior + terms, what `predict_joint_log_proba` says. Reported: `reported` = bias + reported prior +
    factor * terms, the scores whose softmax is `posterior`. Without calibration the two are the same. The two priors
    differ only where nothing but scores were added up (complement): there the raw sum has no prior.

    `rows` are the rows of each class where the prior is their share. `silent` tells what said nothing and why, `beyond`
    which numbers are like none that was learned, whatever was made of them, `strange` what makes the row unfamiliar.
    """

    classes: tuple[Any, ...]
    prior: FloatArray
    terms: tuple[Term, ...]
    posterior: FloatArray
    bias: FloatArray
    reported_prior: FloatArray
    rows: AnyArray | None = None
    silent: tuple[Silence, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    beyond: tuple[Beyond, ...] = ()
    strange: tuple[Strange, ...] = ()

    @property
    def joint(self) -> FloatArray:
        """Prior and terms added up: what `predict_joint_log_proba` says of the row."""
        return sum((term.log_likelihood for term in self.terms), self.prior)

    @property
    def reported(self) -> FloatArray:
        """Bias, prior and weighed terms added up: the scores whose softmax is the posterior."""
        return sum((term.reported for term in self.terms), self.start)

    @property
    def start(self) -> FloatArray:
        """What the reported scores begin with, before any feature speaks."""
        return self.bias + self.reported_prior

    @property
    def is_calibrated(self) -> bool:
        """Whether the reported scores differ from the raw ones."""
        differs = bool(self.bias.any()) or any(term.factor != 1.0 or term.added is not None for term in self.terms)
        return differs or not np.array_equal(self.prior, self.reported_prior)

    @property
    def ranked(self) -> tuple[int, ...]:
        """The classes by number, the most probable first."""
        order: list[int] = np.argsort(-self.posterior, kind="stable").tolist()
        return tuple(order)

    @property
    def answer(self) -> Any:
        """The most probable class."""
        return self.classes[int(np.argmax(self.posterior))]

    @property
    def missing(self) -> tuple[str, ...]:
        """The columns without a value."""
        return tuple(one.feature for one in self.silent if one.why == MISSING)

    @property
    def unseen(self) -> tuple[tuple[str, str], ...]:
        """Categories and words that were never learned, each with its column first."""
        return tuple((one.feature, one.value) for one in self.silent if one.why == UNSEEN)

    @property
    def ignored(self) -> tuple[tuple[str, str], ...]:
        """Columns the model does not use, values a family cannot take, and words left out: column and value."""
        return tuple((one.feature, one.value) for one in self.silent if one.why == IGNORED)

    @cached_property
    def evidence(self) -> tuple[Evidence, ...]:
        """The features that spoke, in order: of a text its words, to which all that its terms say is credited."""
        named: dict[tuple[str, int, int], str] = {}
        together: dict[tuple[str, str] | int, list[tuple[int, Part]]] = {}
        for index, term in enumerate(self.terms):
            if not term.words:
                together[index] = [(index, Part(term))]
            for start, end, word, share in term.words:
                key = term.column, named.setdefault((term.column, start, end), word)
                together.setdefault(key, []).append((index, Part(term, share, (start, end))))
        reported = np.array([term.reported for term in self.terms])
        return tuple(evidence_of(key, held, reported) for key, held in together.items())

    @property
    def words(self) -> tuple[Evidence, ...]:
        """The words of texts among the evidence."""
        return tuple(one for one in self.evidence if one.column)

    def leads(self, first: int, second: int) -> FloatArray:
        """The log odds each piece of evidence gives the first class over the second; 0 where both are impossible."""
        return np.array([lead_of(one.reported, first, second) for one in self.evidence])

    def lead(self, first: int, second: int) -> float:
        """The log odds of the first class over the second, all together; 0 where both are impossible."""
        return lead_of(self.reported, first, second)

    @property
    def silent_by_reason(self) -> dict[str, list[str]]:
        """What said nothing: missing, never seen, or not used."""
        return {
            "missing": list(self.missing),
            "never seen": [" ".join(pair) for pair in self.unseen],
            "not used": [" ".join(pair).strip() for pair in self.ignored],
        }

    @cached_property
    def flip(self) -> Flip | None:
        """The fewest features to take away for another class to win; None where no such features are.

        Against one other class the best to take away is the strongest for the answer, then the next: so the search is
        exact for each class, and the class that needs the fewest is told.
        """
        if len(self.classes) < 2 or not self.evidence or not np.isfinite(self.reported.max()):
            return None
        best, said = int(np.argmax(self.reported)), np.array([one.reported for one in self.evidence])
        leads = said[:, [best]] - said
        needed = fewest_to_flip(self.start[best] - self.start, leads)
        other = int(np.argmin(needed))
        if needed[other] > len(said):
            return None
        gone = np.argsort(-leads[:, other], kind="stable")[: needed[other]]
        scores = self.start + np.delete(said, gone, axis=0).sum(axis=0)
        scores[best] = -np.inf
        return Flip(tuple(self.evidence[index].feature for index in gone), self.classes[int(np.argmax(scores))])

    def to_dict(self) -> dict[str, Any]:
        """The same as lists and numbers, ready for JSON."""
        return {
            "classes": list(self.classes),
            "answer": self.answer,
            "posterior": self.posterior.tolist(),
            "prior": self.prior.tolist(),
            "bias": self.bias.tolist(),
            "reported_prior": self.reported_prior.tolist(),
            "rows": None if self.rows is None else self.rows.tolist(),
            "joint": self.joint.tolist(),
            "reported": self.reported.tolist(),
            "terms": [term_to_dict(term, self.classes) for term in self.terms],
            "words": [word_to_dict(one) for one in self.words],
            "missing": list(self.missing),
            "unseen": [list(pair) for pair in self.unseen],
            "ignored": [list(pair) for pair in self.ignored],
            "beyond": [{**vars(one), "text": one.text} for one in self.beyond],
            "strange": [{**vars(one), "text": one.text} for one in self.strange],
            "flip": None if self.flip is None else {"features": list(self.flip.features), "answer": self.flip.answer},
        }


def fewest_to_flip(start: FloatArray, leads: FloatArray) -> AnyArray:
    """How many rows of leads must go for each class to win over the one that leads; more than there are if none do.

    `start` is the lead before any row, and both are infinite where a class is impossible. The strongest go first.
    """
    ranked = -np.sort(-leads, axis=0)
    known = np.isfinite(ranked)
    lead = start + np.where(known, ranked, 0.0).sum(axis=0) - np.cumsum(np.where(known, ranked, 0.0), axis=0)
    flips = (lead < 0) & (ranked > 0) & (np.arange(1, len(ranked) + 1)[:, None] >= (~known).sum(axis=0))
    return np.where(flips.any(axis=0), flips.argmax(axis=0) + 1, len(ranked) + 1)


def lead_of(scores: FloatArray, first: int, second: int) -> float:
    """The log odds of one class over another; 0 where both are impossible."""
    lead = float(scores[first]) - float(scores[second])
    return 0.0 if math.isnan(lead) else lead


def evidence_of(
    key: tuple[str, str] | int, held: list[tuple[int, Part]], reported: FloatArray
) -> Evidence:
    """A single term by its number; or all that speaks through a word of a column, or lies between its words."""
    indices, parts = zip(*held, strict=True)
    if isinstance(key, int):
        return Evidence(parts[0].term.feature, parts[0].term.value, reported[key], parts)
    column, word = key
    said = (np.array([part.share for part in parts])[:, None] * reported[list(indices)]).sum(axis=0)
    times = str(len({part.place for part in parts})) if word else ""
    return Evidence(f"{column}: {word or BETWEEN}", times, said, parts, column, word)


def term_to_dict(term: Term, classes: tuple[Any, ...]) -> dict[str, Any]:
    """One term as plain data."""
    return {
        "feature": term.feature,
        "value": term.value,
        "column": term.column,
        "log_likelihood": term.log_likelihood.tolist(),
        "factor": term.factor,
        **({} if term.added is None else {"added": term.added.tolist()}),
        "basis": term.basis and {"text": term.basis.text(classes), **term.basis.to_dict()},
    }


def word_to_dict(one: Evidence) -> dict[str, Any]:
    """What is credited to a word, as plain data; the word is empty for what lies between words."""
    return {
        "column": one.column,
        "word": one.word,
        "places": [list(place) for place in one.places],
        "log_likelihood": one.log_likelihood.tolist(),
        "reported": one.reported.tolist(),
    }
