"""Merge: what two models learned, exactly as if one had learned it all."""

from __future__ import annotations

from dataclasses import replace

from candide.data.advice import SetOption, UseVerb
from candide.data.errors import SummariesDisagree
from candide.model.trained_model import TrainedModel


def merge_two(first: TrainedModel, other: TrainedModel) -> TrainedModel:
    """What both learned, with the options and the provenance of the first."""
    if (first.ledger is None) != (other.ledger is None):
        raise SummariesDisagree(
            "Of these two, one keeps a ledger of its rows and the other does not, so their sum could keep none.",
            advice=("Learn both with a ledger, ", UseVerb("fit", (SetOption("ledger", True),)), ", or both without."),
        )
    ledger = first.ledger + other.ledger if first.ledger is not None and other.ledger is not None else None
    return replace(first, summary=first.summary + other.summary, ledger=ledger)
