"""The loop behind a first look at many columns: what a column tells of the label, its values in a few parts."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled
from candide.kernels.cells import ordered

SMOOTHING = 0.5


class CountedCells(NamedTuple):
    """Ascending cells of keys without their last `shift` bits, and counts units[cell, class], each worth `unit`."""

    cells: IntArray
    units: IntArray
    shift: int
    unit: float


@compiled
def in_parts(lines: FloatArray, most: int) -> FloatArray:
    """Neighbouring lines[line, class] joined into at most so many parts of about equal weight, float64[part, class]."""
    parts, share = np.zeros((most, lines.shape[1])), lines.sum() / most
    passed, part = 0.0, 0
    for line in range(len(lines)):
        for label in range(lines.shape[1]):
            parts[part, label] += lines[line, label]
        passed += lines[line].sum()
        while part < most - 1 and passed >= share * (part + 1):
            part += 1
    return parts


@compiled
def gain_of_parts(parts: FloatArray, rows: FloatArray) -> float:
    """By how many nats parts[part, class] lower the loss of rows[class], each left out, below that of the prior.

    Rows that are in no part say nothing. The share of a part in a class is that of its rows, half a row added.
    """
    classes, gain, everyone = parts.shape[1], 0.0, rows.sum()
    filled = 0
    for part in range(len(parts)):
        filled += 1 if parts[part].sum() > 0 else 0
    totals = parts.sum(axis=0) + SMOOTHING * filled
    for part in range(len(parts)):
        together = 0.0
        for label in range(classes):
            together += rows[label] * (parts[part, label] + SMOOTHING) / totals[label]
        for label in range(classes):
            count = parts[part, label]
            if count > 0.0 and rows[label] > 1.0 and totals[label] > 1.0:
                others = together - rows[label] * (count + SMOOTHING) / totals[label]
                left = max(count - 1.0, 0.0) + SMOOTHING
                own = (rows[label] - 1.0) * left / (totals[label] - 1.0)
                gain += count * (math.log(own / (own + others)) - math.log((rows[label] - 1.0) / (everyone - 1.0)))
    return gain


@compiled
def gains_of_cells(
    numbers: FloatArray,
    column: int,
    labels: IntArray,
    weights: IntArray,
    folds: IntArray,
    counted: CountedCells,
    rows: FloatArray,
    most: int,
) -> FloatArray:
    """The gains of one column of numbers[row, column] in at most so many parts, without each fold of rows and with all.

    Weights may be empty. rows[fold, class] are those without each fold, the last line those of all.
    """
    cells, units, shift, unit = counted
    held = np.zeros((len(rows), *units.shape), np.int64)
    for row in range(len(labels)):
        value = numbers[row, column]
        if value == value:
            cell = ordered(np.float64(value + 0.0).view(np.int64)) >> shift
            line = np.searchsorted(cells, cell)
            held[folds[row], line, labels[row]] += weights[row] if weights.size else 1
    gains = np.empty(len(rows))
    for fold in range(len(rows)):
        gains[fold] = gain_of_parts(in_parts((units - held[fold]) * unit, most), rows[fold])
    return gains
