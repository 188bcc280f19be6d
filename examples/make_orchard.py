"""Write orchard.csv: an invented table of fruit with numbers, counts, categories, truth values and gaps.

    python examples/make_orchard.py
"""

import csv
from pathlib import Path

import numpy as np

FRUIT = {
    #          share  weight g   sugar %     spots  colours, one letter of its first choice likelier   has stem
    "apple": (0.40, (150, 25), (12.0, 1.5), 2.0, ["red", "green", "yellow"], [0.55, 0.30, 0.15], 0.80),
    "pear": (0.28, (180, 30), (11.0, 1.4), 6.0, ["green", "yellow", "brown"], [0.50, 0.35, 0.15], 0.95),
    "quince": (0.14, (260, 60), (9.0, 1.2), 3.5, ["yellow", "green"], [0.90, 0.10], 0.60),
    "plum": (0.18, (55, 12), (14.5, 2.0), 0.6, ["purple", "red", "yellow"], [0.70, 0.20, 0.10], 0.40),
}
MISSING = 0.07
COLUMNS = ["fruit", "weight_g", "sugar_percent", "spots", "colour", "stem", "orchard", "price_cent"]


def main(rows: int = 600, seed: int = 1759) -> None:
    rng = np.random.default_rng(seed)
    names = list(FRUIT)
    with Path(__file__).with_name("orchard.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for _ in range(rows):
            fruit = rng.choice(names, p=[FRUIT[name][0] for name in names])
            out.writerow([fruit, *(("" if rng.random() < MISSING else value) for value in draw(rng, fruit))])


def draw(rng: np.random.Generator, fruit: str) -> list[object]:
    _, weight, sugar, spots, colours, chances, stem = FRUIT[fruit]
    return [
        round(rng.normal(*weight)),
        round(rng.normal(*sugar), 1),
        rng.poisson(spots),
        rng.choice(colours, p=chances),
        "yes" if rng.random() < stem else "no",
        rng.choice(["north", "south", "river"]),
        round(float(np.exp(rng.normal(np.log(weight[0]) - 1.2, 0.6)))),
    ]


if __name__ == "__main__":
    main()
