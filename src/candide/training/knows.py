"""Knows: whether rows are in a model, which only a ledger can tell."""

from __future__ import annotations

import numpy as np

from candide.data.advice import SetOption, UseVerb
from candide.data.arrays import BoolArray
from candide.data.batch import Batch
from candide.data.errors import OptionRefused
from candide.model.trained_model import TrainedModel


def knows_rows(trained: TrainedModel, batch: Batch) -> BoolArray:
    """Whether each row, with its label, was learned and not forgotten."""
    if trained.ledger is None:
        raise OptionRefused(
            "Only a model with a ledger can tell whether a row was learned.",
            advice=("Fit it with one: ", UseVerb("fit", (SetOption("ledger", True),)), "."),
        )
    from candide.training.row_hashes import identities

    known = set(trained.schema.columns)
    unknown = np.zeros(len(batch), dtype=bool)
    for name in batch.names:
        unknown |= False if name in known else ~batch.missing(name)
    hashes = identities(trained.summary.blocks, batch.with_missing(trained.schema.columns))
    return (trained.ledger.times(hashes) > 0) & ~unknown
