"""What makes a row unfamiliar: the columns whose values are less expected than those of nearly all learned rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from candide.data.batch import Batch
from candide.families.base.events import block_name
from candide.families.base.family import Block
from candide.model.assessment import Assessment
from candide.model.decision import RARITY
from candide.model.explanation import Explanation
from candide.model.novelty import UNMEASURED, Novelty
from candide.model.predictor import Predictor
from candide.model.strange import Strange

MOST_NAMED = 3
"""So many columns of a row are named as strange, the strangest first."""


NOTHING_KNOWN = Strange(reason="nothing in this row was ever seen")
IMPOSSIBLE = Strange(reason="no class has ever had such a row")


def explained(model: Predictor, novelty: Novelty | None, rows: Batch) -> list[Explanation]:
    """Why each row gets its answer, and what makes it strange where `decide` would call it unfamiliar."""
    found, measured = model.assess(rows), novelty or UNMEASURED
    unfamiliar = measured.chances(model.blocks, found) < RARITY
    explanations = model.explain(rows)
    for index in np.flatnonzero(unfamiliar).tolist():
        why = explanations[index]
        explanations[index] = replace(why, strange=strange_parts(model.blocks, measured, found, index, why))
    return explanations


def strange_parts(
    blocks: Sequence[Block], novelty: Novelty, found: Assessment, index: int, why: Explanation
) -> tuple[Strange, ...]:
    """What is strange about one of the rows: all of it, or its least expected blocks."""
    if found.nothing_known[index]:
        return (NOTHING_KNOWN,)
    if found.impossible[index]:
        return (IMPOSSIBLE,)
    row = Assessment(found.reported[[index]], *(part[:, [index]] for part in found[1:]))
    ranks, heard = novelty.log_ranks(blocks, row)[:, 0], novelty.heard(blocks, row.there)[:, 0]
    order = [at for at in np.argsort(ranks, kind="stable").tolist() if heard[at]]
    named = [at for at in order[:MOST_NAMED] if at == order[0] or ranks[at] < np.log(RARITY)]
    return tuple(Strange(*named_values(blocks[at], why), novelty.share(blocks[at], row, at)) for at in named)


def named_values(block: Block, why: Explanation) -> tuple[str, str]:
    """The columns of a block in few words, and the value of a single one that is no text."""
    if len(block.columns) > 1 or block.family.has_length:
        return block_name(block.columns), ""
    (column,) = block.columns
    spoken = {term.feature: term.value for term in why.terms} | {one.feature: one.value for one in why.silent}
    return column, spoken.get(column, "")
