"""The same choices with other rows: what fitting, learning and forgetting have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from candide import engines
from candide.data.advice import SetOption
from candide.data.batch import FIRST_ROW, Batch
from candide.data.errors import ColumnRefused, LabelsRefused, Location
from candide.data.values import Key
from candide.engines.base.plan import Plan, with_step
from candide.families.base.family import Block
from candide.kernels.threads import in_parallel
from candide.model.summary import grid_weights
from candide.model.trained_model import TrainedModel
from candide.statistics.ledger import Ledger


def refilled(
    trained: TrainedModel,
    batches: Iterable[Batch],
    declared: Iterable[Key] = (),
    within: Ledger | None = None,
    read: Batch | None = None,
) -> TrainedModel:
    """The same choices, with only these rows learned; expected counts, and how well the choices did, are not kept.

    Where a ledger is kept the rows are noted, and refused if not `within` another. `read` are all of the same rows as
    they were read to choose by: what can be counted from that is not read again.
    """
    blocks, rows, ledger = trained.summary.counting_blocks, completed(trained, batches), None
    engine = engines.engine_of(trained)
    if trained.options.ledger and isinstance(rows, Plan):
        from candide.training.row_hashes import noted_elsewhere

        ledger = noted_elsewhere(engine, blocks, rows, within)
        summary = engine.summarize(blocks, rows, declared)
    elif trained.options.ledger:
        from candide.training.row_hashes import Noting

        noting = Noting(blocks, within)
        summary = engine.summarize(blocks, noting.watched(rows), declared)
        ledger = noting.ledger()
    else:
        before = counted_before(blocks, read) if read is not None else {}
        rest = engine.summarize(tuple(block for block in blocks if block not in before), rows, declared)
        summary = rest.beside(blocks, before)
    tuning = replace(trained.tuning, quality=None)
    return replace(trained, summary=summary, tuning=tuning, ledger=ledger, provenance={}, expected=None)


def counted_before(blocks: Sequence[Block], read: Batch) -> dict[Block, Any]:
    """What rows, all of which have some weight, have left behind in blocks that can tell from how they were read."""
    from candide.selection.leave_one_out import LeaveOneOut  # not needed, and not imported, to learn more

    if not (grid_weights(read) > 0).all():
        return {}
    rows = LeaveOneOut.of_labels(read)
    found = zip(blocks, in_parallel(rows.counted_before, blocks), strict=True)
    return {block: statistic for block, statistic in found if statistic is not None}


def completed(trained: TrainedModel, batches: Iterable[Batch]) -> Iterable[Batch]:
    """Batches with every column of the schema, missing where absent; one nobody chose for is refused."""
    return with_step(batches, Completing(trained.schema.columns))


@dataclass(frozen=True)
class Completing:
    """Gives a batch every column of a schema."""

    columns: tuple[str, ...]

    def __call__(self, batch: Batch) -> Batch:
        """The same rows, with these columns and no others."""
        if batch.labels is None:
            raise LabelsRefused("These rows have no labels.", advice="Give one a row.", expected="one label a row")
        known = set(self.columns)
        unknown = [name for name in batch.names if name not in known and batch.has_values(name)]
        if unknown:
            number = batch.start + FIRST_ROW
            raise ColumnRefused(
                f"Column '{unknown[0]}' first appears in row {number:,}, after the columns were decided.",
                advice=(
                    "Say what it is: ", SetOption("families", key=unknown[0]), ", or leave it out: ",
                    SetOption("families", "ignore", unknown[0]), ".",
                ),
                where=Location(row=number, column=unknown[0]),
            )
        return batch.with_missing(self.columns)
