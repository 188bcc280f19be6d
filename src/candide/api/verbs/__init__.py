"""The verbs as Python functions: the same words, meanings and defaults as the commands, without scikit-learn.

`data` is whatever a source opens: a path, several, a glob, "-", a folder, a database, a frame. `model` is the path of
a model file, or what `fit` and `load` give. Rows are counted from 1, as people count them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from candide.api.verbs.clustering import cluster as cluster
    from candide.api.verbs.comparing import compare as compare
    from candide.api.verbs.drawing import sample as sample
    from candide.api.verbs.evaluating import evaluate as evaluate
    from candide.api.verbs.explaining import explain as explain
    from candide.api.verbs.fitted import Fitted as Fitted
    from candide.api.verbs.fitted import load as load
    from candide.api.verbs.fitting import fit as fit
    from candide.api.verbs.inspecting import inspect as inspect
    from candide.api.verbs.merging import merge as merge
    from candide.api.verbs.predicting import predict as predict
    from candide.api.verbs.reporting import report as report
    from candide.api.verbs.touring import demo as demo
    from candide.api.verbs.updating import forget as forget
    from candide.api.verbs.updating import learn as learn
    from candide.api.verbs.updating import refit as refit

HOMES = {
    "Fitted": "fitted",
    "cluster": "clustering",
    "compare": "comparing",
    "demo": "touring",
    "evaluate": "evaluating",
    "explain": "explaining",
    "fit": "fitting",
    "forget": "updating",
    "inspect": "inspecting",
    "learn": "updating",
    "load": "fitted",
    "merge": "merging",
    "predict": "predicting",
    "refit": "updating",
    "report": "reporting",
    "sample": "drawing",
}
__all__ = [*HOMES]


def __getattr__(name: str) -> Any:
    """Import a verb when it is first asked for."""
    if name not in HOMES:
        raise AttributeError(f"module 'candide.api.verbs' has no attribute '{name}'")
    return getattr(import_module(f"candide.api.verbs.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
