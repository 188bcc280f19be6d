"""Rows to be answered, with every column that the model asks for: what they lack is missing, and is said.

A missing value says nothing in naive Bayes, so rows without a column can be answered from the others. Whoever would
rather have an error says so: `strict`. Rows that have nothing the model asks for are refused always.
"""

from __future__ import annotations

from collections.abc import Sequence

from candide.data.advice import NamedOption
from candide.data.batch import TEXT, Batch, is_numbered
from candide.data.errors import ColumnRefused, Location, suggestion
from candide.families.base import competing
from candide.model.schema import Schema

NAMED = 3


def asked(schema: Schema) -> list[str]:
    """The columns that can say something."""
    return [choice.column for choice in schema.choices if choice.family is not None]


def lacking(schema: Schema, names: Sequence[str], strict: bool = False) -> list[str]:
    """What a model asks for that rows with columns of these names lack; refused if strict, or where it is all."""
    known = set(names)
    wanted = asked(schema)
    absent = [name for name in wanted if name not in known]
    if absent and (strict or len(absent) == len(wanted)):
        why = "" if strict else "Nor have they any other column that the model learned from. "
        raise ColumnRefused(
            f"Column '{absent[0]}' is not in these rows. {why}{suggestion(absent[0], names)}",
            advice=("Leave out ", NamedOption("strict"), " to answer without it.")
            if strict
            else "Give the columns by their names.",
            where=Location(column=absent[0]),
        )
    return absent


def absent_columns_notes(absent: Sequence[str], names: Sequence[str]) -> list[str]:
    """A note on columns that rows lack; none where they lack none."""
    if not absent:
        return []
    if len(absent) > NAMED:
        first = ", ".join(f"'{name}'" for name in absent[:NAMED])
        return [f"These rows lack {len(absent):,} columns of the model ({first}, ...): they count as missing in them."]
    hints = [(name, suggestion(name, [other for other in names if other not in absent])) for name in absent]
    return [
        f"These rows have no column '{name}': it counts as missing in them. {hint if 'mean' in hint else ''}".strip()
        for name, hint in hints
    ]


def met(schema: Schema, batch: Batch) -> Batch:
    """Rows under the names the model knows: an array's columns by position, texts alone as its column of text."""
    columns = schema.columns
    if batch.names == (TEXT,) and TEXT not in columns:
        texts = [c.column for c in schema.choices if c.family is not None and c.family.reads == competing.TEXT]
        return batch.renamed(texts) if len(texts) == 1 else batch
    nameless = is_numbered(batch.names) or is_numbered(columns)
    if nameless and len(batch.names) == len(columns) and not set(batch.names) & set(columns):
        return batch.renamed(columns)
    return batch
