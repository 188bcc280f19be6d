"""Text at the speed of reading: Candide, scikit-learn and `wc -w` on the same documents, side by side.

    python benchmarks/text.py [--megabytes 100] [--corpora movie_reviews spamassassin zipf]

Every contestant runs in a process of its own, so that peak memory is its own; compilation is done before the clock
starts. Peers start from a list of strings, Candide from the same list and, in another line, from Arrow memory. River,
which learns one event at a time, has a benchmark of its own: streams.py.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
CORPORA = ("movie_reviews", "spamassassin", "zipf")
RESULTS = Path(__file__).parent / "results"
CALIBRATED = "candide list, calibrated"
"""The other contestants of Candide do what their peers do: count, and nothing else."""

CONTESTANTS = (
    CALIBRATED,
    "candide arrow",
    "candide list",
    "candide list sklearn",
    "candide list sklearn 1 thread",
    "CountVectorizer+MultinomialNB",
    "HashingVectorizer+MultinomialNB",
)


def real_corpus(name: str, size: int) -> pa.Table | None:
    """A real corpus, repeated until it is large enough."""
    path = DATA / f"{name}.jsonl.gz"
    if not path.exists():
        print(f"{name}: skipped, as {path} is not there.")
        return None
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    texts = pa.array([row["text"].encode("utf-8", "replace").decode() for row in rows], type=pa.large_string())
    table = pa.table({"text": texts, "label": pa.array([str(row["label"]) for row in rows])})
    return pa.concat_tables([table] * (size // texts.nbytes + 1)).combine_chunks()


def zipf_corpus(size: int) -> pa.Table:
    """Words of three to twelve letters with Zipf's frequencies, half of the rare ones typical of a class."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), n)) for n in rng.integers(3, 13, 50_000)])
    chances = 1.0 / np.arange(1, len(words) + 1)
    texts, labels, written = [], [], 0
    while written < size:
        label = len(texts) // 20 % 2
        drawn = rng.choice(len(words), 4000, p=chances / chances.sum())
        drawn = np.where((drawn > 500) & (drawn % 2 != label), (drawn + 1) % len(words), drawn)
        for start in range(0, 4000, 200):
            texts.append(" ".join(words[drawn[start : start + 200]].tolist()))
            labels.append(("ham", "spam")[label])
            written += len(texts[-1])
    return pa.table({"text": pa.array(texts, type=pa.large_string()), "label": labels})


class Corpus(NamedTuple):
    """Texts in Arrow memory or as a list of strings, and their labels."""

    texts: Any
    labels: list[str]

    @classmethod
    def of(cls, path: str, rows: int, as_list: bool) -> Corpus:
        """Read batch by batch, so that a list of strings is all that stays in memory."""
        texts: list[Any] = []
        labels: list[str] = []
        with pa.OSFile(path) as source:
            reader = pa.ipc.open_file(source)
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number).slice(0, max(0, rows - len(labels)))
                texts += batch["text"].to_pylist() if as_list else [batch["text"]]
                labels += batch["label"].to_pylist()
        return cls(texts if as_list else pa.chunked_array(texts, type=pa.large_string()), labels)


def candide(corpus: Corpus, words: str, calibrate: bool) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """How Candide fits and predicts, from strings or from Arrow memory."""
    from candide import NaiveBayes, TextOptions

    texts, labels = corpus

    def fit() -> Any:
        return NaiveBayes(text=TextOptions(words=words), smoothing=1, calibrate=calibrate).fit(texts, labels)

    def predict(model: Any) -> Any:
        return np.searchsorted(model.classes_, model.predict(texts))

    return fit, predict


def scikit_learn(corpus: Corpus, vectorizer: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """The usual pipeline."""
    from sklearn.naive_bayes import MultinomialNB

    texts, labels = corpus

    def fit() -> Any:
        return MultinomialNB().fit(vectorizer.fit_transform(texts), labels)

    def predict(model: Any) -> Any:
        return np.searchsorted(model.classes_, model.predict(vectorizer.transform(texts)))

    return fit, predict


def contestant(name: str, corpus: Corpus) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """How a contestant fits and predicts."""
    if name.startswith("candide"):
        os.environ["CANDIDE_THREADS"] = "1" if "1 thread" in name else "2"
        return candide(corpus, "sklearn" if "sklearn" in name else "default", name == CALIBRATED)
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    if name.startswith("Count"):
        return scikit_learn(corpus, CountVectorizer())
    return scikit_learn(corpus, HashingVectorizer(alternate_sign=False, norm=None))


def memory_now() -> float:
    """Megabytes this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(name: str, path: str, rows: int) -> dict[str, Any]:
    """In a process of its own: warm up on a few rows, then fit and predict against the clock."""
    as_list = name != "candide arrow"
    fit, predict = contestant(name, Corpus.of(path, 50, as_list))
    predict(fit())
    before = memory_now()
    fit, predict = contestant(name, Corpus.of(path, rows, as_list))
    best = {"fit": np.inf, "predict": np.inf}
    for _ in range(3 if name.startswith("candide") else 1):
        start = time.perf_counter()
        model = fit()
        best["fit"] = min(best["fit"], time.perf_counter() - start)
        start = time.perf_counter()
        answers = predict(model)
        best["predict"] = min(best["predict"], time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - before
    return {**best, "memory": peak, "checksum": int(answers.sum())}


def in_its_own_process(name: str, path: str, rows: int) -> dict[str, Any]:
    """The same, measured where nothing else was."""
    command = [sys.executable, __file__, "--child", name, "--path", path, "--rows", str(rows)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        sys.exit(f"{name} failed:\n{answer.stderr}")
    found: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return found


def words_counted_by_wc(table: pa.Table, folder: str) -> float:
    """The best of three runs of `wc -w`, in seconds."""
    path = Path(folder) / "plain.txt"
    with path.open("w") as out:
        for text in table["text"]:
            out.write(text.as_py() + "\n")
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        subprocess.run(["wc", "-w", str(path)], capture_output=True, check=True)
        best = min(best, time.perf_counter() - start)
    path.unlink()
    return best


def race(name: str, table: pa.Table, folder: str, contestants: list[str]) -> Iterator[str]:
    """All contestants on one corpus, a line each."""
    path = str(Path(folder) / f"{name}.arrow")
    with pa.ipc.new_file(path, table.schema) as out:
        out.write_table(table, max_chunksize=256)
    size = table["text"].nbytes / 1e6
    yield f"\n{name}: {len(table):,} documents, {size:.0f} MB"
    yield f"{'':34}{'fit s':>9}{'MB/s':>8}{'predict s':>11}{'MB/s':>8}{'memory MB':>11}{'checksum':>10}"
    slowest = words_counted_by_wc(table, folder)
    yield f"{'wc -w':34}{slowest:9.2f}{size / slowest:8.0f}"
    found = {}
    for who in contestants:
        found[who] = r = in_its_own_process(who, path, len(table))
        yield (
            f"{who:34}{r['fit']:9.2f}{size / r['fit']:8.0f}{r['predict']:11.2f}{size / r['predict']:8.0f}"
            f"{r['memory']:11.0f}{r['checksum']:10}"
        )
    ours, peer = found.get("candide list sklearn"), found.get("CountVectorizer+MultinomialNB")
    if ours and peer:
        yield (
            f"same tokens, from strings: fit {peer['fit'] / ours['fit']:.1f} times and predict "
            f"{peer['predict'] / ours['predict']:.1f} times as fast as CountVectorizer+MultinomialNB (target 20)"
        )
        yield (
            f"default words, Arrow memory: fit {slowest / found['candide arrow']['fit']:.1f} times as fast as wc -w "
            f"(target 1), memory beyond the text {found['candide arrow']['memory'] - size:.0f} MB (target 300)"
        )
    grown = []
    for part in (8, 4, 2, 1):
        r = in_its_own_process("candide arrow", path, len(table) // part)
        grown.append(f"{8 // part}x fit {r['fit']:.2f} predict {r['predict']:.2f}")
    yield "growth, Arrow memory: " + ", ".join(grown)


def main() -> None:
    """Run the race, or one contestant of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--corpora", nargs="*", default=CORPORA, choices=CORPORA)
    parser.add_argument("--contestants", nargs="*", default=list(CONTESTANTS))
    parser.add_argument("--child")
    parser.add_argument("--path")
    parser.add_argument("--rows", type=int)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(run(asked.child, asked.path, asked.rows)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.corpora:
            size = asked.megabytes * 1_000_000
            table = zipf_corpus(size) if name == "zipf" else real_corpus(name, size)
            if table is not None:
                lines = []
                for line in race(name, table, folder, asked.contestants):
                    print(line, flush=True)
                    lines.append(line)
                RESULTS.mkdir(exist_ok=True)
                heading = "# Text beside scikit-learn and wc -w\n\n```"
                (RESULTS / f"text_{name}.md").write_text(heading + "\n".join(lines) + "\n```\n")


if __name__ == "__main__":
    main()
