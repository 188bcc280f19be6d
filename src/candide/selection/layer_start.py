"""What naive Bayes says of rows before a linear layer is fitted on it: without each row, and without a fold as well.

A layer has a weight for every term, so it is fitted on rows judged without themselves: naive Bayes seems to know all
about a row that it has learned. The rows of a fold judge a layer that knows nothing of them only where those it was
fitted on were judged by counts that know nothing of them either. Else a word that a row of the fold holds says more of
the others than it would of new rows, the layer takes that back, and the fold would be judged too badly (rt_polarity: a
gain of 0.1 points where new rows gain 1.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from candide.data.arrays import FloatArray, IntArray
from candide.families.base.family import Block
from candide.families.words.term_matrix import TermsLearnedInPart
from candide.model.calibration import Calibration
from candide.selection.leave_one_out import LeaveOneOut, LeftOut


@dataclass(frozen=True, eq=False)
class LayerStart:
    """Rows left out, with the blocks and the calibration by which they are judged."""

    leaving: LeaveOneOut
    left: LeftOut
    calibration: Calibration
    blocks: Sequence[Block]

    def scores(self) -> FloatArray:
        """The reported score of each row without it, [row, class]."""
        return self.left.reported(self.calibration, self.leaving.classes, self.blocks)

    def scores_of(self, rest: IntArray) -> FloatArray:
        """The same, where texts of the rest of the rows are judged by what the rest alone has taught."""
        terms = self.left.terms.copy()
        for index, block in enumerate(self.blocks):
            learned = self.leaving.learned_in_part(block, rest) if block.family.has_recipe else None
            if isinstance(learned, TermsLearnedInPart):
                terms[index, rest] = learned.left_out(rest)
        return replace(self, left=replace(self.left, terms=terms)).scores()
