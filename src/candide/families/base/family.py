"""What a family is: one way a block of columns can be distributed, given the class.

What must be said stands in `core`; each further file is a capability with a default that works for any family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from candide.families.base.choosing_at_fit import ChoosingAtFit
from candide.families.base.competing import Competing
from candide.families.base.core import B, P, S, V
from candide.families.base.explaining import Explaining
from candide.families.base.identity import Identity
from candide.families.base.learning_in_part import LearningInPart
from candide.families.base.leaving_out import LeavingOut
from candide.families.base.profiling import Profiling
from candide.families.base.reading_off import ReadingOff
from candide.families.base.remembering import Remembering
from candide.families.base.streaming import Streaming


class Family(
    Explaining[S, B, V, P],
    LeavingOut[S, B, V, P],
    LearningInPart[S, B, V, P],
    Profiling[S, B, V, P],
    ChoosingAtFit[S, B, V, P],
    Remembering[S, B, V, P],
    Identity[S, B, V, P],
    ReadingOff[S, B, V, P],
    Competing,
    Streaming,
):
    """One way a block of columns can be distributed: of a statistic S and its builder B, values V, parameters P."""


AnyFamily = Family[Any, Any, Any, Any]
"""Families of all kinds side by side, each with the statistic, values and parameters of its own."""


@dataclass(frozen=True)
class Block:
    """Columns that share a family, and so a statistic."""

    family: AnyFamily
    columns: tuple[str, ...]

    @property
    def key(self) -> str:
        """The name calibration knows the block by, whatever columns join it later."""
        return f"{self.columns[0]} ({self.family.aspect})" if self.family.aspect else self.columns[0]

    def builder(self, classes: int) -> Any:
        return self.family.builder(self.columns, classes)

    def describe(self) -> dict[str, Any]:
        return {**self.family.describe(), "columns": list(self.columns)}
