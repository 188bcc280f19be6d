"""Why a row got its answer: the prior and one term a feature, adding up to the score the answer comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from candide.arrays import AnyArray, FloatArray
from candide.bases.family import IGNORED, MISSING, UNSEEN, Silence, Term


@dataclass(frozen=True)
class Evidence:
    """What one feature adds to the reported score of each class: a term, or all terms of the same word."""

    feature: str
    value: str
    reported: FloatArray
    terms: tuple[Term, ...]


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

    `rows` are the rows of each class where the prior is their share. `silent` tells what said nothing and why.
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
        differs = bool(self.bias.any()) or any(term.factor != 1.0 for term in self.terms)
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
        """The features that spoke, in order; a word that several readings of its column know speaks once."""
        together: dict[tuple[str, str], list[Term]] = {}
        for place, term in enumerate(self.terms):
            key = (term.column, term.word) if term.word else (f"#{place}", "")
            together.setdefault(key, []).append(term)
        return tuple(evidence_of(terms) for terms in together.values())

    def leads(self, first: int, second: int) -> FloatArray:
        """The log odds each piece of evidence gives the first class over the second; 0 where both are impossible."""
        with np.errstate(invalid="ignore"):
            found = [float(one.reported[first] - one.reported[second]) for one in self.evidence]
        return np.nan_to_num(np.array(found), nan=0.0, posinf=np.inf, neginf=-np.inf)

    @cached_property
    def flip(self) -> Flip | None:
        """The fewest features to take away for another class to win; None where no such features are.

        Against one other class the best to take away is the strongest for the answer, then the next: so the search is
        exact for each class, and the class that needs the fewest is told.
        """
        if len(self.classes) < 2 or not self.evidence or not np.isfinite(self.reported.max()):
            return None
        best = int(np.argmax(self.reported))
        found: list[Flip] = []
        for other in range(len(self.classes)):
            flip = self._flip_to(best, other) if other != best else None
            if flip is not None and (not found or len(flip.features) < len(found[0].features)):
                found = [flip]
        return found[0] if found else None

    def _flip_to(self, best: int, other: int) -> Flip | None:
        leads = self.leads(best, other)
        order = np.argsort(-leads, kind="stable")
        order = order[leads[order] > 0]
        said = np.array([one.reported for one in self.evidence])
        kept = np.ones(len(said), dtype=bool)
        for taken, place in enumerate(order, start=1):
            kept[place] = False
            scores = self.start + said[kept].sum(axis=0)
            if scores[other] > scores[best]:
                names = tuple(self.evidence[gone].feature for gone in order[:taken])
                return Flip(names, self.classes[int(np.argmax(scores))])
        return None

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
            "terms": [described(term, self.classes) for term in self.terms],
            "missing": list(self.missing),
            "unseen": [list(pair) for pair in self.unseen],
            "ignored": [list(pair) for pair in self.ignored],
            "flip": None if self.flip is None else {"features": list(self.flip.features), "answer": self.flip.answer},
        }

    def worked(self) -> str:
        """Bayes' rule step by step, as a teacher writes it."""
        from candide.rendering.worked import worked

        return worked(self)

    def to_html(self) -> str:
        """A page of its own: works offline, in light and dark."""
        from candide.rendering.html import page

        return page([("", self)])

    def _repr_html_(self) -> str:
        from candide.rendering.html import card

        return card(self)

    def __str__(self) -> str:
        """The answer against the runner-up, the strongest evidence first."""
        from candide.rendering.terminal import lines

        return "\n".join(lines(self))


def evidence_of(terms: list[Term]) -> Evidence:
    """Terms that speak of one thing, as one."""
    first = terms[0]
    name = f"{first.column}: {first.word}" if first.word else first.feature
    return Evidence(name, first.value, sum((t.reported for t in terms[1:]), first.reported), tuple(terms))


def described(term: Term, classes: tuple[Any, ...]) -> dict[str, Any]:
    """One term as plain data."""
    return {
        "feature": term.feature,
        "value": term.value,
        "log_likelihood": term.log_likelihood.tolist(),
        "factor": term.factor,
        "behind": term.behind and {"text": term.behind.text(classes), **term.behind.to_dict()},
    }
