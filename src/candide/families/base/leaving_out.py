"""Being left out: what each row's values say once the row itself is taken out of the statistic, exactly."""

from __future__ import annotations

from candide.families.base.block_rows import BlockRows
from candide.families.base.block_scores import BlockScores
from candide.families.base.core import B, P, S, V
from candide.families.base.leave_one_out import BlockLeftOut, ByRefitting
from candide.families.base.likelihood import Likelihood


class LeavingOut(Likelihood[S, B, V, P]):
    """Leave-one-out means a refit without the row by the same choices: by default it is one, row by row."""

    def leave_one_out(self, seen: S, columns: tuple[str, ...]) -> BlockLeftOut:
        """A statistic made ready to say what it says of its rows without each of them.

        Families that are used much subtract in place of refitting.
        """
        return ByRefitting(self, seen, columns)

    def nearly_leave_one_out(self, seen: S, columns: tuple[str, ...]) -> BlockLeftOut:
        """The same up to what does not matter for choosing and calibrating, where that is much quicker."""
        return self.leave_one_out(seen, columns)

    def leave_each_out(
        self, rows: BlockRows[V], columns: tuple[str, ...], classes: int, first: int
    ) -> BlockScores | None:
        """What each of the first so many rows says without it where these rows are all that was learned.

        Nothing where that is no quicker than taking them out of the statistic.
        """
        return None
