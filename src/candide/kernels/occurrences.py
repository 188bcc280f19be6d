"""How often a row was met before: a hash table of hashes."""

from __future__ import annotations

import numpy as np

from candide.data.arrays import IntArray
from candide.kernels import compiled
from candide.kernels.hashing import Hashes

NEVER = np.int64(0)


@compiled
def count_earlier(hashes: Hashes, start: int, known: Hashes, counts: IntArray, room: int, earlier: Hashes) -> int:
    """Write to earlier[row] how often hashes[row] was met before, from row `start` on, and count it.

    known[place] and counts[place] are an open hash table whose size is a power of two. Once `room` more hashes were
    entered it stops at the next new one; without room new ones are not entered. Gives the row to go on from.
    """
    mask = np.uint64(len(known) - 1)
    limited = room > 0
    for row in range(start, len(hashes)):
        place = hashes[row] & mask
        while counts[place] != NEVER and known[place] != hashes[row]:
            place = (place + np.uint64(1)) & mask
        if counts[place] == NEVER:
            if room == 0:
                if limited:
                    return row
                earlier[row] = np.uint64(0)
                continue
            room -= 1
            known[place] = hashes[row]
        earlier[row] = np.uint64(counts[place])
        counts[place] += 1
    return len(hashes)
