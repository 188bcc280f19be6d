"""Everything one block says of some rows, from values that were read once."""

from __future__ import annotations

from dataclasses import dataclass

from candide.data.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class BlockScores:
    """What a block says of some rows."""

    score: FloatArray
    """What it adds to each class, [row, class]."""
    log_likelihood: FloatArray
    """log P(values | class), [row, class]: the score itself, unless that is no likelihood."""
    length: FloatArray
    """How much of each row the block can speak of, [row]: its columns that are there, or the weight of its terms."""
    unseen: FloatArray
    """What is added to log P of each row for parts of it that were never seen, such as unknown words: 0 or less.

    They are no evidence for any class, but they are evidence that the row is unlike those learned.
    """
