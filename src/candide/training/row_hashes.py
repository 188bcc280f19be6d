"""What a row is, in one hash: its label and every value, as the model reads them.

Equal rows have equal hashes, whatever memory, type or column order they came in: 1 is 1.0, and a missing value is the
same as an absent column. Different rows have different ones: what is hashed can be read back without doubt, and BLAKE2b
(Aumasson et al. 2013) is a cryptographic hash, so nobody finds two rows with the same 128 bits with less than about
2^64 attempts, nor a second one for a given row with less than 2^128.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from candide.data.arrays import AnyArray, FloatArray, Sparse, is_sparse
from candide.data.batch import FIRST_ROW, Batch
from candide.data.errors import LabelsRefused, RowNeverLearned
from candide.data.values import Coded, Key, shown
from candide.engines.base.plan import Plan
from candide.engines.protocol import Engine
from candide.families.base.column_values import ColumnValues
from candide.families.base.family import Block
from candide.families.base.identity import MISSING_VALUE
from candide.families.words.documents import Documents
from candide.model.summary import grid_weights
from candide.statistics.ledger import BYTES, HASH, Ledger
from candide.statistics.weight_grid import bits_of, weights_in_units
from candide.store.keys import key_to_bytes

NUMBER, WORDS = b"n", b"w"
NOTHING = b""


def identities(blocks: Sequence[Block], batch: Batch) -> AnyArray:
    """The hash of each row: of its label, then of the cell of each column that has a value, in order of their bytes.

    A cell is the column's name, the kind of its value and the value, each after its length where that is not fixed.
    """
    if batch.labels is None:
        raise LabelsRefused("These rows have no labels. A row is known by its values and its label.")
    plain = [block for block in blocks if not block.family.is_auxiliary]
    columns = [column for block in plain for column in cells_of(block, batch, is_only_block=len(plain) == 1)]
    labels = [written_key(key) for key in batch.labels.keys]
    rows = zip((labels[code] for code in batch.labels.codes.tolist()), *columns_in_order(columns), strict=True)
    hashes = b"".join(blake2b(b"".join(row), digest_size=BYTES).digest() for row in rows)
    return np.frombuffer(hashes, HASH)


Column = tuple[bytes, list[bytes]]
"""How the cells of a column begin, and the cells, which are empty where a value is missing."""


def columns_in_order(columns: Iterable[Column]) -> list[list[bytes]]:
    """The cells of each column, by how cells begin."""
    return [cells for _, cells in sorted(columns, key=lambda column: column[0])]


def cells_of(block: Block, batch: Batch, is_only_block: bool) -> Iterator[Column]:
    """Each column of a block as its family reads it: texts, categories or numbers.

    Sparse counts that are all there is stay sparse: their cells are put in order row by row.
    """
    values: Any = block.family.identified(batch, block.columns)
    begin = [length_prefixed(name.encode("utf-8", "surrogatepass")) for name in block.columns]
    if isinstance(values, Documents):
        yield begin[0], cells_of_texts(begin[0], values)
    elif isinstance(values, ColumnValues):
        yield from cells_of_columns(begin, block.columns, values)
    elif isinstance(values, list):
        yield from ((start, cells_of_keys(start, coded)) for start, (_, coded) in zip(begin, values, strict=True))
    elif is_only_block and block.family.zero_is_missing and is_sparse(values):
        yield NOTHING, cells_of_entries(begin, values)
    else:
        numbers = values.toarray() if is_sparse(values) else values
        for index, start in enumerate(begin):
            yield start, cells_of_numbers(start, numbers[:, index], block.family.zero_is_missing)


def cells_of_columns(begin: Sequence[bytes], columns: Sequence[str], values: ColumnValues) -> Iterator[Column]:
    """The numbers of each column, and where there is none the identity of another value."""
    others = dict(values.others)
    for index, (start, name) in enumerate(zip(begin, columns, strict=True)):
        cells = cells_of_numbers(start, values.numbers[:, index], zero_is_missing=False)
        if name in others:
            cells = [one or other for one, other in zip(cells, cells_of_keys(start, others[name]), strict=True)]
        yield start, cells


def cells_of_texts(begin: bytes, documents: Documents) -> list[bytes]:
    """The bytes of each text."""
    cells = []
    for piece, _ in documents.with_rows():
        letters, ends = piece.letters, piece.offsets.tolist()
        missing = piece.missing.tolist() or [False] * (len(ends) - 1)
        for start, stop, absent in zip(ends, ends[1:], missing, strict=False):
            cells.append(NOTHING if absent else begin + WORDS + length_prefixed(letters[start:stop].tobytes()))
    return cells


def cells_of_keys(begin: bytes, coded: Coded) -> list[bytes]:
    """The identity of each category."""
    known = [NOTHING if key == MISSING_VALUE else begin + written_key(key) for key in coded.keys]
    known.append(NOTHING)
    return [known[code] for code in coded.codes.tolist()]


def cells_of_numbers(begin: bytes, numbers: FloatArray, zero_is_missing: bool) -> list[bytes]:
    """The bits of each double, zero having one sign."""
    begin, raw = begin + NUMBER, (numbers + 0.0).astype(">f8").tobytes()
    cells = [begin + raw[index : index + 8] for index in range(0, len(raw), 8)]
    absent = np.isnan(numbers) | (numbers == 0.0) if zero_is_missing else np.isnan(numbers)
    for row in np.flatnonzero(absent).tolist():
        cells[row] = NOTHING
    return cells


def cells_of_entries(begin: Sequence[bytes], counts: Sparse) -> list[bytes]:
    """The entries of each row of a sparse matrix that are not zero, in order of their bytes."""
    rows = []
    for start, stop in zip(counts.indptr.tolist(), counts.indptr.tolist()[1:], strict=False):
        columns, numbers = counts.indices[start:stop].tolist(), counts.data[start:stop].astype(np.float64)
        cells = [cells_of_numbers(begin[c], numbers[i : i + 1], True)[0] for i, c in enumerate(columns)]
        rows.append(b"".join(sorted(cells)))
    return rows


def length_prefixed(raw: bytes) -> bytes:
    """Bytes after their length, so that what follows cannot be taken for a part of them."""
    return len(raw).to_bytes(8, "big") + raw


def written_key(key: Key) -> bytes:
    """A label or category: its kind, and its value after its length."""
    kind, raw = key_to_bytes(*key)
    return bytes([kind]) + length_prefixed(raw)


@dataclass(frozen=True)
class Noted:
    """From a batch to a ledger of its rows; can be sent to where they lie."""

    blocks: tuple[Block, ...]

    def __call__(self, batch: Batch) -> Ledger:
        """Every row with its weight."""
        hashes, weights = identities(self.blocks, batch), grid_weights(batch)
        bits = bits_of(weights)
        return Ledger.of(hashes, weights_in_units(weights, len(batch), bits), bits)


def noted_elsewhere(engine: Engine, blocks: Sequence[Block], rows: Plan, within: Ledger | None) -> Ledger:
    """A ledger of rows that lie elsewhere, noted there: they come here only to name one that is not in another."""
    ledger = Ledger.joined(engine.map(Noted(tuple(blocks)), replace(rows, work="Noting")))
    if within is not None and not within.covers(ledger):
        for _ in Noting(blocks, within).watched(rows):
            pass
    return ledger


class Noting:
    """A ledger in the making: notes rows in passing, and refuses any that is not `within` another, if one is given."""

    def __init__(self, blocks: Sequence[Block], within: Ledger | None = None) -> None:
        self.blocks = blocks
        self.left = within
        self.parts: list[Ledger] = []

    def watched(self, batches: Iterable[Batch]) -> Iterator[Batch]:
        """The same batches, each row noted."""
        noted = Noted(tuple(self.blocks))
        for batch in batches:
            part = noted(batch)
            if self.left is not None:
                if not self.left.covers(part):
                    raise never_learned(batch, identities(self.blocks, batch), grid_weights(batch), self.left)
                self.left = self.left - part
            self.parts.append(part)
            yield batch

    def ledger(self) -> Ledger:
        """All rows noted so far."""
        return Ledger.joined(self.parts)


def never_learned(batch: Batch, hashes: AnyArray, weights: AnyArray, left: Ledger) -> RowNeverLearned:
    """The refusal that names the first row of a batch that is not, or not as often, among those left."""
    assert batch.labels is not None
    bits = max(left.bits, bits_of(weights))
    held = [units << (bits - left.bits) for units in left.held(hashes).tolist()]
    room = dict(zip(hashes.tolist(), held, strict=True))
    for row, one in enumerate(hashes.tolist()):
        room[one] -= int(weights[row].item() * 2**bits) if weights.size else 1 << bits
        if room[one] < 0:
            break
    return RowNeverLearned(batch.start + row + FIRST_ROW, shown(batch.labels.keys[int(batch.labels.codes[row])]))
