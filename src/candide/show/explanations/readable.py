"""Explanations that can show themselves: as text when printed, as HTML in a notebook, worked out on request."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self

from candide.model.explanation import Explanation
from candide.show.explanations.html import card, explanations_page
from candide.show.explanations.terminal import lines
from candide.show.explanations.worked import worked

FIELDS = tuple(field.name for field in fields(Explanation))


@dataclass(frozen=True, eq=False)
class ReadableExplanation(Explanation):
    """Why a row got its answer, ready to be read: print it, or let a notebook show it."""

    @classmethod
    def of(cls, explanation: Explanation) -> Self:
        """The same explanation."""
        return cls(**{name: getattr(explanation, name) for name in FIELDS})

    def worked(self) -> str:
        """Bayes' rule step by step, as a teacher writes it."""
        return worked(self)

    def to_html(self) -> str:
        """A page of its own: works offline, in light and dark."""
        return explanations_page([("", self)])

    def _repr_html_(self) -> str:
        return card(self)

    def __str__(self) -> str:
        """The answer against the runner-up, the strongest evidence first."""
        return "\n".join(lines(self))
