"""A model at hand: the trained model, and what should be said about it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from candide import store
from candide.data.errors import OptionRefused
from candide.data.values import shown
from candide.data.visible import visible
from candide.model.trained_model import TrainedModel
from candide.store.overwriting import MODEL

Path = str | os.PathLike[str]
EVENTS_KEPT = 20


@dataclass(frozen=True)
class Fitted:
    """What `fit`, `load`, `learn`, `forget` and `merge` give: frozen, and ready for every other verb."""

    trained: TrainedModel
    notes: tuple[str, ...] = field(default=(), compare=False)
    changed: int = field(default=0, compare=False)
    """How many rows `learn` or `forget` has just learned or forgotten."""

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels as they were in the data, sorted."""
        return tuple(value for _, value in self.trained.summary.classes)

    @property
    def label(self) -> str | None:
        """The name of the column that was learned."""
        return self.trained.label

    @property
    def rows(self) -> int:
        """How many rows are in the model."""
        return self.trained.summary.rows

    @property
    def provenance(self) -> Mapping[str, Any]:
        """Where the model comes from, and what was done to it."""
        return self.trained.provenance

    @property
    def learned(self) -> TrainedModel:
        """The former name of `trained`."""
        return self.trained

    def save(self, path: Path, force: bool = False) -> None:
        """Write the model file, whole or not at all; over a file that is no model only by `force`."""
        store.save(self.trained, path, force)

    def __str__(self) -> str:
        named = ", ".join(shown(key) for key in self.trained.summary.classes[:6])
        more = ", ..." if len(self.classes) > 6 else ""
        return visible(f"Fitted on {self.rows:,} rows: {self.label or 'label'} is one of {named}{more}")


def load(path: Path) -> Fitted:
    """Read a model file."""
    return Fitted(store.load(path))


def opened_model(model: Any) -> Fitted:
    """A model by its path, or as it is; a fitted `NaiveBayes` will do."""
    if isinstance(model, Fitted):
        return model
    if isinstance(trained := getattr(model, "trained_", None), TrainedModel):
        return Fitted(trained)
    if isinstance(model, (str, os.PathLike)):
        return load(model)
    raise OptionRefused(
        f"A model is the path of a model file, or what fit and load give, not {type(model).__name__}.",
        expected="the path of a model file, or what fit and load give",
    )


def being_written(output: Path | None, data: Any = None, force: bool = False) -> AbstractContextManager[None]:
    """Be the only writer of a model file, from before its sources are read until it is saved; nothing where none is.

    A folder that cannot be written to is so known before the work, not after, and so is a file that would be destroyed.
    """
    store.refuse_overwriting(output, MODEL, [data], force)
    return nullcontext() if output is None else store.locked(output)


def with_event(before: Mapping[str, Any], verb: str, sources: list[str], rows: int) -> dict[str, Any]:
    """Provenance that tells of one more thing done to the model; of very many, only the latest are kept."""
    fresh = store.provenance(sources, rows)
    event = {"verb": verb, "sources": sources, "rows": rows, "when": fresh["created"]}
    return {**before, "versions": fresh["versions"], "events": [*before.get("events", []), event][-EVENTS_KEPT:]}
