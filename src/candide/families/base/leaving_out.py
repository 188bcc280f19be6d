"""Being left out: what each row's values say once the row itself is taken out of the statistic, exactly."""

from __future__ import annotations

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
