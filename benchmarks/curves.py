"""Where the learning curves of naive Bayes and logistic regression cross (Ng & Jordan 2001), on real data.

    python benchmarks/curves.py                   # all six sets; results/curves.md and docs/pictures/
    python benchmarks/curves.py spambase adult    # print these, and leave the report as it is

Each set is what `candide compare FILE --label LABEL --rows 3000` prints; a crossing counts only where one method is
clearly ahead first and the other clearly ahead later.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from candide import compare
from candide.evaluation.comparison import Comparison, Duel
from measure import machine, publish, table
from real_data import DATA, NO_FEATURES, TABLES

SETS = ("adult", "voting", "breast_cancer", "spambase", "mushroom", "covertype")
FILES = {"adult": "adult_train"}
ROWS = 3_000
PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"


def compared(name: str) -> Comparison:
    """The comparison on one set, drawn too."""
    PICTURES.mkdir(exist_ok=True)
    return compare(
        DATA / "table" / f"{FILES.get(name, name)}.csv.gz",
        TABLES[name],
        PICTURES / f"curves_{name}.svg",
        families=dict.fromkeys(NO_FEATURES.get(name, ()), "ignore") or "auto",
        rows=ROWS,
    )


def crossings(name: str, found: Comparison) -> list[tuple[str, ...]]:
    """A line for each pair of methods."""
    return [(name, f"{duel.first}, {duel.second}", duel.sentence) for duel in found.duels]


def as_foretold(duel: Duel) -> bool:
    """Whether naive Bayes is clearly ahead first and its rival clearly ahead in the end."""
    spoken = [lead for lead in duel.leads if lead]
    return len(duel.crossings) > 0 and spoken[0] > 0 > spoken[-1]


def part(name: str, found: Comparison, seconds: float) -> str:
    """What was found on one set."""
    picture = f"![learning curves](../../docs/pictures/curves_{name}.svg)"
    return f"## {name}\n\nTook {seconds:.0f} s.\n\n```\n{found}\n```\n\n{picture}"


def main(names: list[str]) -> None:
    found = {}
    for name in names or SETS:
        start = time.perf_counter()
        found[name] = compared(name), time.perf_counter() - start
        print(part(name, *found[name]), flush=True)
    if names:
        return
    crossed = [name for name, (comparison, _) in found.items() if any(map(as_foretold, comparison.duels))]
    lines = [line for name, (comparison, _) in found.items() for line in crossings(name, comparison)]
    on = f"Naive Bayes first, its rival later: on {len(crossed)} of {len(found)} sets, {', '.join(crossed)}."
    report = [
        "# Learning curves: generative or discriminative?",
        (__doc__ or "").strip(),
        f"{machine('numpy', 'scikit-learn')}. {on}",
        table(("set", "pair", "who is ahead"), lines),
        *(part(name, *one) for name, one in found.items()),
    ]
    publish("curves", "\n\n".join(report))


if __name__ == "__main__":
    main(sys.argv[1:])
