"""Choosing at fit time: what a family settles from its own counts, and which smoothing suits them."""

from __future__ import annotations

from typing import Self

from candide.data.arrays import AnyArray, FloatArray, IntArray
from candide.families.base.core import B, Core, P, S, V


class ChoosingAtFit(Core[S, B, V, P]):
    """Choices that `fit` makes from the statistic: by default there are none."""

    @property
    def chooses(self) -> bool:
        """Whether fitting chooses something that leave-one-out holds fixed, such as where intervals end."""
        return False

    def said_without_folds(
        self, seen: S, values: V, labels: IntArray, weights: AnyArray, folds: IntArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """Score and log likelihood, [row, class], by what is fitted without the rows of each row's fold.

        The likelihood is that of the family as it would be had they never been seen. Nothing where that is no quicker
        than so many fits.
        """
        return None

    def settled(self, seen: S) -> Self:
        """The same family with what it would choose from `seen` at fit time held fixed."""
        return self

    def chosen_from(self, rest: S, seen: S) -> tuple[Self, S]:
        """The family as it would be had only the rest of `seen` been seen, and the rest as that family counts it."""
        return self, rest

    def smoothed_counts(self, seen: S) -> AnyArray | None:
        """The counts[slot, class] that smoothing is added to in a block of one column; nothing where there are none."""
        return None
