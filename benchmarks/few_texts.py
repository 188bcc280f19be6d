"""Whether what is said of a model of few texts is what new texts give.

    python benchmarks/few_texts.py                # results/few_texts.md
    python benchmarks/few_texts.py text/sms_spam  # print these, and leave the report as it is

How texts are read is chosen anew without each fold that judges, from what was tried with all of them: among few texts
that might still flatter. 60 to 500 are drawn from each corpus, eight times; of its first eight classes where it has
more.
What `fit` says of itself stands beside what up to 2,000 other texts give, with the standard error over draws.
"""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

import real_data
from candide import NaiveBayes
from measure import machine, publish, table
from real_data import SEED, DataSet
from scores import LEAST, Answers, chance_of

SIZES, DRAWS, CLASSES, MOST_ASKED = (60, 120, 250, 500), 8, 8, 2000


class Drawn(NamedTuple):
    """Accuracy and log loss by draw, [draw, figure]: said by models of so many texts, and given by new ones."""

    name: str
    size: int
    said: np.ndarray
    given: np.ndarray


def corpora() -> list[str]:
    """The corpora whose texts belong to some class."""
    return [key for key in real_data.names() if key.startswith("text/") and "out_of_scope" not in key]


def drawn(key: str) -> list[Drawn]:
    """A corpus at each size."""
    warnings.simplefilter("ignore")
    data = real_data.read(key)
    some = np.flatnonzero(np.isin(data.labels, np.unique(data.labels)[:CLASSES]))
    found = []
    for size in SIZES:
        figures = [said_and_given(data, some, size, draw) for draw in range(DRAWS)]
        found.append(Drawn(key, size, *(np.array(part) for part in zip(*figures, strict=True))))
    return found


def said_and_given(data: DataSet, some: np.ndarray, size: int, draw: int) -> tuple[list[float], list[float]]:
    """Accuracy and log loss of one draw, as `fit` said them and as other texts give them."""
    order = np.random.default_rng([SEED, size, draw]).permutation(some)
    learned, asked = order[:size], order[size : size + MOST_ASKED]
    model = NaiveBayes().fit(data.part(learned), data.labels[learned])
    quality = model.trained_.tuning.quality
    chances = model.predict_proba(data.part(asked))
    answers = Answers(model.classes_, model.classes_[chances.argmax(axis=1)], chances, 0.0, 0.0)
    right = np.mean(answers.predicted == data.labels[asked])
    loss = -np.log(np.maximum(chance_of(data.labels[asked], answers), LEAST)).mean()
    return [quality.accuracy, quality.log_loss], [float(right), float(loss)]


def line(name: str, size: int, found: list[Drawn]) -> list[str]:
    """A line of the table: the mean over draws, and by how much more is said than given."""
    said, given = (np.concatenate([getattr(one, part) for one in found]) for part in ("said", "given"))
    more = said - given
    error = more.std(axis=0) / np.sqrt(len(more))
    means = [f"{100 * said[:, 0].mean():.1f}", f"{100 * given[:, 0].mean():.1f}"]
    losses = [f"{said[:, 1].mean():.3f}", f"{given[:, 1].mean():.3f}"]
    apart = [f"{100 * more[:, 0].mean():+.1f} ± {100 * error[0]:.1f}", f"{more[:, 1].mean():+.3f} ± {error[1]:.3f}"]
    return [name, f"{size:,}", *means, apart[0], *losses, apart[1]]


HEAD = ["corpus", "texts", "said %", "new texts %", "apart", "said loss", "new texts loss", "apart"]


def main(names: list[str]) -> None:
    """Measure, and publish unless only some corpora were named."""
    every = list[Drawn]()
    with ProcessPoolExecutor() as workers:
        for found in workers.map(drawn, names or corpora()):
            every += found
            for one in found:
                print(*line(one.name, one.size, [one]), sep="\t", flush=True)
    by_size = [line("all", size, [one for one in every if one.size == size]) for size in SIZES]
    print(*by_size, sep="\n")
    if not names:
        head = ["# What is said of few texts, and what new ones give", str(__doc__).strip(), machine("numpy") + "."]
        lines = [*(line(one.name, one.size, [one]) for one in every), *by_size]
        publish("few_texts", "\n\n".join([*head, table(HEAD, lines)]))


if __name__ == "__main__":
    main(sys.argv[1:])
