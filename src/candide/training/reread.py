"""Reread: choices made anew from what a model remembers, with no row at hand."""

from __future__ import annotations

from dataclasses import replace

from candide import engines
from candide.data.progress import Watch, unwatched
from candide.model.expected import Expected
from candide.model.reading import read_as
from candide.model.schema import Schema
from candide.model.trained_model import TrainedModel


def reread(trained: TrainedModel, watch: Watch = unwatched, answers_live: bool = False) -> TrainedModel:
    """The same rows with families, bins, grouping and smoothing read off anew, for columns that were left open.

    What was chosen from whole rows is kept: text recipes, columns left out, whether all numbers share a bell, and
    calibration. Strings that turn out to be texts are counted word by word from then on. A stream that is asked between
    its rows is read by families that `answers_live`, whose parameters need not be made anew for every row.
    """
    from candide.selection.read_off import read_off  # not needed, and not imported, to predict

    engine = engines.engine_of(trained)
    schema = read_off(trained.summary, trained.schema, trained.options, engine, watch, answers_live)
    return with_schema(trained, schema)


def with_schema(trained: TrainedModel, schema: Schema) -> TrainedModel:
    """The same rows under other choices, as far as what is remembered of them allows."""
    summary = read_as(trained.summary, schema.memory_blocks, trained.schema.remembered)
    return replace(trained, schema=schema, summary=summary, expected=expected_as(trained, schema))


def expected_as(trained: TrainedModel, schema: Schema) -> Expected | None:
    """The expected counts of a model under other choices, where it has some."""
    if trained.expected is None:
        return None
    return trained.expected.of(lambda kept: read_as(kept, schema.memory_blocks, trained.schema.remembered))
