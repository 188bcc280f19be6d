"""compare, of two models: what moved from the one to the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from candide.api.verbs.evaluating import is_model
from candide.api.verbs.fitted import opened_model
from candide.data.advice import NamedOption, PythonCode, UseVerb
from candide.data.errors import OptionRefused
from candide.evaluation.comparison import FOLDS
from candide.evaluation.drift import Drift, drift_between

FOR_ROWS = {"families": "auto", "folds": FOLDS, "rows": 20_000, "seed": 0, "follow_links": False, "on_error": "stop"}
"""The options that are for rows have these values until something is asked for; others are empty."""


def models_among(data: Any) -> list[Any]:
    """The models in what was given, which may be rows."""
    given = data if isinstance(data, (list, tuple)) else [data]
    return [one for one in given if is_model(one)]


def drift_of(data: Any, asked: Mapping[str, Any]) -> Drift:
    """What moved from the first model to the second; refused where there are not two, or something else is asked."""
    given = list(data) if isinstance(data, (list, tuple)) else [data]
    refuse_no_pair(given, asked)
    for name, value in asked.items():
        if value is not None and value != FOR_ROWS.get(name):
            raise OptionRefused(NamedOption(name), " is for rows, but two models are compared by their counts.")
    first, second = (opened_model(model).trained for model in given)
    names = [drifting_name(model, which) for model, which in zip(given, ("the first", "the second"), strict=True)]
    return drift_between(first, second, (names[0], names[1]))


def drifting_name(model: Any, which: str) -> str:
    """What a model is called: its file, or which of the two it is."""
    return os.fspath(model) if isinstance(model, (str, os.PathLike)) else which


def refuse_no_pair(given: list[Any], asked: Mapping[str, Any]) -> None:
    """Raise unless two models were given, and nothing else."""
    models = models_among(given)
    if len(given) == len(models) == 2:
        return
    if len(given) == 1 and is_model(asked["label"]):
        raise OptionRefused(
            "Two models are compared as a pair,",
            advice=("so give both in a list: ", PythonCode("compare([first, second])"), "."),
            expected="a list of two models",
        )
    if len(models) < len(given):
        raise OptionRefused(
            "Models are compared with each other, and rows by methods, but here are some of each.",
            advice=("To judge a model by rows, use ", UseVerb("evaluate"), "."),
            expected="two models, or rows",
        )
    raise OptionRefused(
        f"Drift is told of two models, the earlier one first, but {len(given)} {'was' if len(given) == 1 else 'were'} "
        "given.",
        advice="Give two." if len(given) > 1 else "Give another one beside it.",
        expected="two models",
    )
