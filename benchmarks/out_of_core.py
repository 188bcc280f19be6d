"""Files larger than memory: time, speed and peak memory at two sizes, with pandas and scikit-learn on the smaller.

    python benchmarks/out_of_core.py                     a quick look, 50 and 200 MB
    python benchmarks/out_of_core.py --sizes 1000 4000   the claim: 1 and 4 GB

The CSV has two numbers, two categories and a text of twelve words from a closed vocabulary of 5,000. Every
measurement runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

LABELS = ("no", "yes")
COLOURS = ("blue", "green", "red", "white")
CITIES = tuple(f"city{index}" for index in range(50))
WORDS = 5_000
WORDS_IN_A_TEXT = 12
CHUNK_ROWS = 50_000
CHUNKS = 8
RESULTS = Path(__file__).parent / "results" / "out_of_core.md"


def write_csv(path: Path, megabytes: int) -> None:
    """A file of about that size; eight different chunks take turns, so that writing is faster than reading."""
    chunks = [chunk(seed) for seed in range(CHUNKS)]
    written = 0
    with open(path, "wb") as out:
        out.write(b"amount,visits,colour,city,text,label\n")
        while written < megabytes * 1_000_000:
            written += out.write(chunks[(written // len(chunks[0])) % CHUNKS])


def chunk(seed: int) -> bytes:
    """Some rows in which every column knows a little about the label."""
    dice = np.random.default_rng(seed)
    label = dice.integers(0, 2, CHUNK_ROWS)
    amount = np.round(dice.normal(40 + 5 * label, 12), 4)
    visits = dice.poisson(3 + label)
    colour = dice.integers(0, len(COLOURS) - label, CHUNK_ROWS)
    city = (len(CITIES) * dice.random(CHUNK_ROWS) ** (1 + 0.2 * label)).astype(int)
    word = (WORDS * dice.random((CHUNK_ROWS, WORDS_IN_A_TEXT)) ** (2 + 0.3 * label[:, None])).astype(int)
    vocabulary = [f"word{index}" for index in range(WORDS)]
    lines = zip(amount.tolist(), visits.tolist(), colour.tolist(), city.tolist(), word.tolist(), label.tolist(),
                strict=True)  # fmt: skip
    return "".join(
        f"{a},{v},{COLOURS[c]},{CITIES[t]},{' '.join([vocabulary[w] for w in words])},{LABELS[y]}\n"
        for a, v, c, t, words, y in lines
    ).encode()


def read_only(path: str) -> int:
    from candide.sources import open_source

    return sum(len(batch) for batch in open_source(path, label="label").batches())


def learn(path: str) -> int:
    from candide import fit

    by_hand = dict(amount="gaussian", visits="gaussian", colour="categorical", city="categorical", text="text")
    return fit(path, "label", families=by_hand).trained.summary.rows


def pandas_and_sklearn(path: str) -> int:
    import pandas as pd
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB
    from sklearn.preprocessing import OrdinalEncoder

    frame = pd.read_csv(path)
    label = frame["label"]
    GaussianNB().fit(frame[["amount", "visits"]], label)
    CategoricalNB().fit(OrdinalEncoder().fit_transform(frame[["colour", "city"]]), label)
    MultinomialNB().fit(CountVectorizer().fit_transform(frame["text"]), label)
    return len(frame)


WORKS = {"read": read_only, "learn": learn, "pandas": pandas_and_sklearn}
TITLES = {"read": "candide, reading only", "learn": "candide, learning", "pandas": "pandas + scikit-learn"}


def measured(work: str, path: Path) -> dict[str, float]:
    """Run one work in a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--work", work, str(path)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def run_here(work: str, path: str) -> None:
    start = time.perf_counter()
    rows = WORKS[work](path)
    wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cpu = usage.ru_utime + usage.ru_stime
    print(json.dumps({"rows": rows, "seconds": wall, "cpu": cpu, "peak": usage.ru_maxrss * 1024 / 1e6}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200], metavar="MB")
    parser.add_argument("--folder", help="where to write the files (default: a temporary folder)")
    parser.add_argument("--without-pandas", action="store_true")
    parser.add_argument("--work", nargs=2, metavar=("WORK", "PATH"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.work:
        return run_here(*asked.work)
    lines = ["| work | MB | rows | seconds | CPU seconds | rows/s | MB/s | peak MB |", "|---" + "|---:" * 7 + "|"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory(dir=asked.folder, prefix="out_of_core-") as folder:
        for index, size in enumerate(sorted(asked.sizes)):
            path = Path(folder) / f"{size}.csv"
            write_csv(path, size)
            megabytes = path.stat().st_size / 1e6
            for work in ("read", "learn", *(["pandas"] if index == 0 and not asked.without_pandas else [])):
                found = measured(work, path)
                lines.append(
                    f"| {TITLES[work]} | {megabytes:,.0f} | {found['rows']:,} | {found['seconds']:.2f} | "
                    f"{found['cpu']:.2f} | {found['rows'] / found['seconds']:,.0f} | "
                    f"{megabytes / found['seconds']:.0f} | {found['peak']:.0f} |"
                )
                print(lines[-1], flush=True)
            path.unlink()
    RESULTS.write_text("# Files larger than memory\n\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
