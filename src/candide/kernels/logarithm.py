"""A logarithm that every machine computes alike."""

import numpy as np
from numpy.typing import NDArray

from candide.kernels import compiled

Floats = NDArray[np.float64]

LOG_TWO_HIGH = 6.93147180369123816490e-01
LOG_TWO_LOW = 1.90821492927058770002e-10


@compiled
def grid_log_of(value: float) -> float:
    """Give the natural logarithm of a number, rounded to a multiple of 2^-40; NaN where it does not exist.

    Only + − × ÷ and exponent extraction are used: IEEE fixes their bits, while every libm has its own `log`.
    log m = 2 artanh((m − 1)/(m + 1)) for m between √½ and √2; ln 2 is split in two so that k ln 2 does not round.
    """
    if not value > 0.0 or value == np.inf:
        return value if value == np.inf else np.nan
    shift = 0
    if value < 2.2250738585072014e-308:
        value *= 18014398509481984.0
        shift = 54
    bits = np.float64(value).view(np.int64)
    power = (bits >> 52) - 1023
    scaled = np.int64((bits & 0xFFFFFFFFFFFFF) | (1023 << 52)).view(np.float64)
    if scaled > 1.4142135623730951:
        scaled *= 0.5
        power += 1
    ratio = (scaled - 1.0) / (scaled + 1.0)
    squared = ratio * ratio
    series = 0.0
    for odd in range(23, 1, -2):
        series = (series + 1.0 / odd) * squared
    fine = 2.0 * ratio + 2.0 * ratio * series
    exponent = np.float64(power - shift)
    result = exponent * LOG_TWO_HIGH + (exponent * LOG_TWO_LOW + fine)
    return np.rint(result * 1099511627776.0) / 1099511627776.0


@compiled
def grid_log(values: Floats) -> Floats:
    """Give the logarithms of float64[n] on the grid."""
    out = np.empty(values.shape[0], np.float64)
    for index in range(values.shape[0]):
        out[index] = grid_log_of(values[index])
    return out
