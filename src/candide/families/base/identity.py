"""What tells rows apart, for a ledger: the values of a row, in one unambiguous form."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from candide.data.arrays import Counts
from candide.data.batch import Batch
from candide.data.values import Coded, Key
from candide.families.base.core import B, Core, P, S, V

if TYPE_CHECKING:
    from candide.families.base.column_values import ColumnValues
    from candide.families.words.documents import Documents

MISSING_VALUE: Key = ("missing", "")
"""The category that a missing value is, where it is one."""

CodedColumns = list[tuple[str, Coded]]
"""The categories of each column, by its name."""


class Identity(Core[S, B, V, P]):
    """By default a row is known by the values of its columns as they are, whatever the family reads of them."""

    #: Whether a missing number is read as zero, so that the two are the same row.
    zero_is_missing: ClassVar[bool] = False

    def identified(self, batch: Batch, columns: tuple[str, ...]) -> CodedColumns | Counts | Documents | ColumnValues:
        """The values that are hashed: categories, numbers[row, column], texts, or numbers beside categories."""
        return [(name, batch.categories(name)) for name in columns]
