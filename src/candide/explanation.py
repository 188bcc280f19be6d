"""Why a row got its answer: the prior and one term a feature, adding up to the log joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from candide.arrays import FloatArray
from candide.bases.family import Term


@dataclass(frozen=True)
class Explanation:
    """Plain data: log prior and terms per class, their sum, and the posterior made of it."""

    classes: tuple[Any, ...]
    prior: FloatArray
    terms: tuple[Term, ...]
    posterior: FloatArray

    @property
    def joint(self) -> FloatArray:
        """Prior and terms added up: what `predict_joint_log_proba` says of the row."""
        return self.prior + sum((term.log_likelihood for term in self.terms), np.zeros_like(self.prior))

    @property
    def answer(self) -> Any:
        return self.classes[int(np.argmax(self.posterior))]

    def to_dict(self) -> dict[str, Any]:
        """The same as lists and numbers, ready for JSON."""
        return {
            "classes": list(self.classes),
            "answer": self.answer,
            "posterior": self.posterior.tolist(),
            "prior": self.prior.tolist(),
            "terms": [
                {"feature": t.feature, "value": t.value, "log_likelihood": t.log_likelihood.tolist()}
                for t in self.terms
            ],
        }

    def __str__(self) -> str:
        """The answer against the runner-up, the strongest evidence first."""
        order = np.argsort(-self.posterior, kind="stable")
        if len(order) == 1:
            return f"{self.answer}: the only class there is"
        best, second = order[:2]
        lines = [
            f"{self.answer}: {self.posterior[best]:.1%}, rather than {self.classes[second]}: "
            f"{self.posterior[second]:.1%}"
        ]
        rows = [("(prior)", "", float(self.prior[best] - self.prior[second]))]
        with np.errstate(invalid="ignore"):
            odds = [float(term.log_likelihood[best] - term.log_likelihood[second]) for term in self.terms]
        spoken = [(term.feature, term.value, lead) for term, lead in zip(self.terms, odds, strict=True)]
        rows += sorted(spoken, key=lambda row: -abs(row[2]))
        width = max(len(f"{feature} {value}") for feature, value, _ in rows)
        for feature, value, lead in rows:
            lines.append(f"  {f'{feature} {value}':{width}}  {lead:+8.3f}  {bar(lead)}")
        return "\n".join(lines)


def bar(odds: float) -> str:
    """A bar of evidence: one mark for each half unit of log odds.

    >>> bar(1.5), bar(-0.6)
    ('+++', '-')
    """
    if not np.isfinite(odds):
        return "" if np.isnan(odds) else ("+" if odds > 0 else "-") * 24
    return ("+" if odds > 0 else "-") * min(round(2 * abs(odds)), 24)
