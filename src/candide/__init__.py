"""Candide: naive Bayes taken seriously, exact and fast, for any table.

A model is a pure function of a summary, and summaries add up, exactly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candide.drop_in import BernoulliNB as BernoulliNB
    from candide.drop_in import CategoricalNB as CategoricalNB
    from candide.drop_in import ComplementNB as ComplementNB
    from candide.drop_in import GaussianNB as GaussianNB
    from candide.drop_in import MultinomialNB as MultinomialNB
    from candide.errors import ColumnWarning as ColumnWarning
    from candide.errors import MissingColumnWarning as MissingColumnWarning
    from candide.naive_bayes import NaiveBayes as NaiveBayes
    from candide.naive_bayes import load as load
    from candide.text.options import TextOptions as TextOptions

__version__ = "0.1.0"

_HOMES = {
    "NaiveBayes": "candide.naive_bayes",
    "TextOptions": "candide.text.options",
    "load": "candide.naive_bayes",
    "ColumnWarning": "candide.errors",
    "MissingColumnWarning": "candide.errors",
    "BernoulliNB": "candide.drop_in",
    "CategoricalNB": "candide.drop_in",
    "ComplementNB": "candide.drop_in",
    "GaussianNB": "candide.drop_in",
    "MultinomialNB": "candide.drop_in",
}
_VERBS = (
    "fit", "predict", "explain", "evaluate", "compare", "inspect", "report", "learn", "forget", "merge", "sample",
    "demo",
)  # fmt: skip
_HOMES |= dict.fromkeys(_VERBS, "candide.verbs")
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for: `import candide` alone costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'candide' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
