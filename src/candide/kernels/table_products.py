"""The loops of the linear layer on tables: what features of a row, and products of two of them, add to each class."""

from __future__ import annotations

import math

from candide.data.arrays import FloatArray, IntArray
from candide.kernels import compiled, inlined

OF_PRODUCTS = 0.8
"""The share of products in the square of a row's length, which is about one; the rest is that of features alone."""


@inlined
def length_factor(features: FloatArray, columns: int) -> float:
    """By what a row is multiplied: one that is longer than one, such as of rare values, is made as long as others.

    Its length is that of all its features and products of two, in as many columns.
    """
    total = 0.0
    for feature in features:
        total += feature * feature
    share = total / columns
    return 1.0 / math.sqrt(max(1.0, (1.0 - OF_PRODUCTS) * share + OF_PRODUCTS * share * share))


@compiled
def shorten_rows(features: FloatArray, columns: int, factors: FloatArray) -> None:
    """Set factors[row] to what the row is multiplied by."""
    for row in range(len(features)):
        factors[row] = length_factor(features[row], columns)


@compiled
def add_feature_products(features: FloatArray, columns: int, weights: FloatArray, scores: FloatArray) -> None:
    """Add to scores[row, class] what each feature and each product of two adds.

    weights[place, class] has the features first, then the products: of the first feature with itself and all after it,
    then of the second. A feature that is zero adds nothing.
    """
    rows, count = features.shape
    for row in range(rows):
        place, factor = count, length_factor(features[row], columns)
        for one in range(count):
            amount = factor * features[row, one]
            if amount == 0.0:
                place += count - one
                continue
            for label in range(scores.shape[1]):
                scores[row, label] += amount * weights[one, label]
            for other in range(one, count):
                product = amount * features[row, other]
                if product != 0.0:
                    for label in range(scores.shape[1]):
                        scores[row, label] += product * weights[place, label]
                place += 1


@compiled
def credit_columns(
    features: FloatArray, factor: float, owners: IntArray, weights: FloatArray, credit: FloatArray
) -> None:
    """Add to credit[column, class] what each column of one row adds: of a product, each of both has a half.

    features[feature] are those of the row, which is multiplied by a factor, owners[feature] the column of each.
    """
    count = len(features)
    place = count
    for one in range(count):
        for label in range(credit.shape[1]):
            credit[owners[one], label] += factor * features[one] * weights[one, label]
        for other in range(one, count):
            half = factor * features[one] * features[other] / 2
            for label in range(credit.shape[1]):
                credit[owners[one], label] += half * weights[place, label]
                credit[owners[other], label] += half * weights[place, label]
            place += 1
