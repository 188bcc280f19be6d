"""Candide: naive Bayes taken seriously, exact and fast, for any table.

A model is a pure function of a summary, and summaries add up, exactly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candide.api.drop_in import BernoulliNB as BernoulliNB
    from candide.api.drop_in import CategoricalNB as CategoricalNB
    from candide.api.drop_in import ComplementNB as ComplementNB
    from candide.api.drop_in import GaussianNB as GaussianNB
    from candide.api.drop_in import MultinomialNB as MultinomialNB
    from candide.api.naive_bayes import NaiveBayes as NaiveBayes
    from candide.api.naive_bayes import load as load
    from candide.data.errors import ColumnWarning as ColumnWarning
    from candide.data.errors import MissingColumnWarning as MissingColumnWarning
    from candide.families.words.options import TextOptions as TextOptions

__version__ = "0.1.0"

_HOMES = {
    "NaiveBayes": "candide.api.naive_bayes",
    "TextOptions": "candide.families.words.options",
    "load": "candide.api.naive_bayes",
    "ColumnWarning": "candide.data.errors",
    "MissingColumnWarning": "candide.data.errors",
    "BernoulliNB": "candide.api.drop_in",
    "CategoricalNB": "candide.api.drop_in",
    "ComplementNB": "candide.api.drop_in",
    "GaussianNB": "candide.api.drop_in",
    "MultinomialNB": "candide.api.drop_in",
}
_VERBS = (
    "fit", "predict", "explain", "evaluate", "compare", "inspect", "report", "learn", "forget", "refit", "merge",
    "sample", "cluster", "demo",
)  # fmt: skip
_HOMES |= dict.fromkeys(_VERBS, "candide.api.verbs")
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import candide` alone costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'candide' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
