"""Engines of clusters beside one machine, and beside Spark's and Dask's own naive Bayes on the same cluster.

    python benchmarks/clusters.py [--megabytes 120] [--rows 2000000] [--words 2000000] [--workers 1 2]

Documents of ASCII words lie in sixteen Parquet files, so that all cut them into the same tokens. Each cluster has one
worker process of one core, then two, on loopback. Sessions are started, kernels compiled and workers warmed up before
the clock starts; of two runs the faster counts. Half of the rows are learned. Predicting is to count how many answers
to the other half are right where the rows lie: of a frame with answers in Spark, by `evaluate` elsewhere ("judged", in
Spark too), which reads the files itself and measures much else.

Strong scaling is the step from one worker to two on the same rows; weak scaling gives two workers twice the rows.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from glob import glob
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from measure import RESULTS, wall_time

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from candide import TextOptions, store  # noqa: E402
from candide.api import verbs  # noqa: E402
from real_clusters import CLUSTERS, Running, missing, session  # noqa: E402

FILES = 16
FIXED = {"calibrate": False, "dependence": "none"}
TEXT = {"families": {"text": "text"}, "text": TextOptions(), "smoothing": 1.0, **FIXED}
NUMBERS = {"families": "gaussian", **FIXED}


def documents(megabytes: int) -> pa.Table:
    """Words of three to twelve letters with Zipf's frequencies, some of the rare ones typical of a class."""
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("etaoinshrdlu"), n)) for n in rng.integers(3, 13, 50_000)])
    chances = 1.0 / np.arange(1, len(words) + 1)
    texts, labels, written = [], [], 0
    while written < megabytes * 1e6:
        label = len(texts) // 20 % 2
        drawn = rng.choice(len(words), 4000, p=chances / chances.sum())
        typical = (drawn > 500) & (drawn % 2 != label) & (rng.random(4000) < 0.1)
        drawn = np.where(typical, (drawn + 1) % len(words), drawn)
        for start in range(0, 4000, 200):
            texts.append(" ".join(words[drawn[start : start + 200]].tolist()))
            labels.append(("ham", "spam")[label])
            written += len(texts[-1])
    return shuffled(pa.table({"text": texts, "label": labels}))


def numbers(rows: int) -> pa.Table:
    """Twenty columns of bells, of two classes."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 2, rows)
    columns = {f"x{at}": rng.normal(size=rows) + 0.2 * label for at in range(20)}
    return pa.table({**columns, "label": np.array(["no", "yes"])[label]})


def many_words(count: int) -> pa.Table:
    """Documents with so many different words: each of its own, beside common ones."""
    number = np.arange(count).reshape(-1, 100)
    texts = [" ".join(["the", "and", *(f"w{n}x" for n in some)]) for some in number.tolist()]
    return shuffled(pa.table({"text": texts, "label": np.array(["a", "b"])[np.arange(len(texts)) % 2]}))


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(np.random.default_rng(2).permutation(len(table)))


def in_files(table: pa.Table, folder: Path) -> str:
    folder.mkdir()
    for at in range(FILES):
        pq.write_table(table.take(np.arange(at, len(table), FILES)), folder / f"part{at:02}.parquet")
    return str(folder / "*.parquet")


def with_candide(cluster: Running | None, train: str, test: str, options: dict[str, Any]) -> dict[str, Any]:
    """Seconds of fit, predict and evaluate, and accuracy."""
    engine = cluster.engine if cluster else "local"
    model, found = list[Any](), dict[str, Any]()
    found["fit"] = wall_time(lambda: model.append(verbs.fit(train, "label", engine=engine, **options)))
    accuracy = list[float]()
    found["judged"] = wall_time(lambda: accuracy.append(verbs.evaluate(model[0], test, engine=engine).accuracy))
    if cluster is not None and cluster.name == "spark":
        frame = session(cluster.address).read.parquet(os.path.dirname(test))

        def right() -> None:
            answered = verbs.predict(model[0], frame, engine=engine).table
            assert answered.where("label = label_predicted").count() / frame.count() == accuracy[0]

        found["predict"] = wall_time(right)
    return found | {"accuracy": accuracy[0], "model": store.canonical_bytes(model[0].trained)}


def with_dask_ml(cluster: Running, train: str, test: str) -> dict[str, Any]:
    """The same with the GaussianNB of dask-ml."""
    import dask
    import dask.array as da
    from dask_ml.naive_bayes import GaussianNB

    from candide.engines.dask import client_of

    def numbers_and_labels(path: str) -> tuple[Any, Any]:
        table = pq.read_table(path)
        numbers = [table[name].to_numpy() for name in table.column_names if name != "label"]
        return np.column_stack(numbers), (table["label"].to_numpy() == "yes").astype(np.int64)

    def rows(paths: str) -> tuple[Any, Any]:
        """An array of numbers and one of labels, each file a chunk that a worker reads."""
        numbers, labels = [], []
        for path in sorted(glob(paths)):
            count, read = pq.read_metadata(path).num_rows, dask.delayed(numbers_and_labels)(path)
            numbers.append(da.from_delayed(read[0], (count, 20), np.float64))
            labels.append(da.from_delayed(read[1], (count,), np.int64))
        return da.concatenate(numbers), da.concatenate(labels)

    model, accuracy = GaussianNB(), list[float]()

    def learn() -> None:
        model.fit(*rows(train))
        learned = dask.compute(model.theta_, model.sigma_, model.class_prior_)
        model.theta_, model.sigma_, model.class_prior_ = map(da.from_array, learned)

    def right() -> None:
        features, labels = rows(test)
        accuracy.append(float(np.mean(np.equal(*dask.compute(model.predict(features), labels)))))

    with client_of(cluster.address).as_current():
        return {"fit": wall_time(learn), "predict": wall_time(right), "accuracy": accuracy[0], "model": b""}


def with_mllib(cluster: Running, train: str, test: str, kind: str) -> dict[str, Any]:
    """The same with Spark's own pipeline."""
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, RegexTokenizer, StringIndexer, VectorAssembler

    spark = session(cluster.address)
    learned, held_out = (spark.read.parquet(os.path.dirname(path)) for path in (train, test))
    target = StringIndexer(inputCol="label", outputCol="target")
    if kind == "text":
        tokens = RegexTokenizer(inputCol="text", outputCol="tokens", pattern="\\W+")
        counts = CountVectorizer(inputCol="tokens", outputCol="features", vocabSize=1 << 24)
        stages = [target, tokens, counts, NaiveBayes(labelCol="target", smoothing=1.0)]
    else:
        joined = VectorAssembler(inputCols=[name for name in learned.columns if name != "label"], outputCol="features")
        stages = [target, joined, NaiveBayes(labelCol="target", modelType="gaussian")]
    model: list[Any] = []
    fit = wall_time(lambda: model.append(Pipeline(stages=stages).fit(learned)))
    accuracy: list[float] = []
    predict = wall_time(
        lambda: accuracy.append(model[0].transform(held_out).where("target = prediction").count() / held_out.count())
    )
    return {"fit": fit, "predict": predict, "accuracy": accuracy[0], "model": b""}


def contestants(
    kind: str, numbers_of_workers: list[int]
) -> Iterator[tuple[str, str, int, Callable[..., dict[str, Any]]]]:
    """Names, engines, workers, and how each is run."""
    options = TEXT if kind == "text" else NUMBERS
    yield "one machine, one thread", "", 0, lambda _, train, test: with_candide(None, train, test, options)
    for name in CLUSTERS:
        if why := missing(name):
            print(f"{name} is left out: {why}")
            continue
        for workers in numbers_of_workers:
            yield (
                f"Candide on {name.capitalize()}", name, workers,
                lambda cluster, train, test: with_candide(cluster, train, test, options),
            )  # fmt: skip
            if name == "spark":
                yield (
                    "MLlib on Spark", name, workers, lambda cluster, train, test: with_mllib(cluster, train, test, kind)
                )  # fmt: skip
            elif kind == "numbers" and find_spec("dask_ml"):
                yield "dask-ml on Dask", name, workers, with_dask_ml


def race(kind: str, paths: list[str], folder: Path, numbers_of_workers: list[int]) -> Iterator[str]:
    """All contestants on the same rows, a line each."""
    train, test, few, half = paths
    yield "| | workers | fit s | predict s | judged s | accuracy | same bytes as one machine |"
    yield "|---|---|---|---|---|---|---|"
    expected, fits, half_fits = b"", dict[tuple[str, int], float](), dict[str, float]()
    for who, engine, workers, run in contestants(kind, numbers_of_workers):
        place = folder / f"{kind} {who} {workers}"
        place.mkdir()
        with CLUSTERS[engine](place, workers) if engine else nullcontext() as cluster:
            run(cluster, few, few)
            runs = [run(cluster, train, test) for _ in range(2)]
            if who.startswith("Candide") and workers == 1:
                half_fits[who] = min(run(cluster, half, few)["fit"] for _ in range(2))
        found = {name: min(one[name] for one in runs) for name in runs[0]}
        fits[who, workers] = found["fit"]
        expected = expected or found["model"]
        same = "" if not found["model"] else "yes" if found["model"] == expected else "no"
        seconds = " | ".join(f"{found[name]:.2f}" if name in found else "" for name in ("fit", "predict", "judged"))
        line = f"{who} | {workers or ''} | {seconds} | {found['accuracy']:.4f}"
        print(f"{kind}: {line} | {same}", flush=True)
        yield f"| {line} | {same} |"
    for who, seconds in half_fits.items():
        if (who, 2) in fits:
            strong, weak = fits[who, 1] / fits[who, 2], seconds / fits[who, 2]
            yield ""
            yield f"{who}: two workers fit {strong:.2f} times as fast as one (strong scaling, 2 at best); for half of"
            yield f"the rows one takes {weak:.2f} of the time that two take for all (weak scaling, 1 at best)."


def memory_of(words: int, folder: Path) -> Iterator[str]:
    """How much memory driver and workers take at most where there are very many different words."""
    paths = in_files(many_words(words), folder / "words")
    place = folder / "memory"
    place.mkdir()
    few = in_files(many_words(words // 500), folder / "few words")
    with CLUSTERS["dask"](place, 2) as cluster, ProcessPoolExecutor(1, get_context("spawn")) as alone:
        before, _ = alone.submit(driven, few, cluster.engine).result()
        peak, said = alone.submit(driven, paths, cluster.engine).result()
        peaks = [peak_of(worker.pid) for worker in cluster.workers]
    yield (
        f"{words:,} different words in {FILES} files, Dask, two workers, the driver a process of its own: most memory "
        f"of the driver {peak:,.0f} MB, {before:,.0f} MB of them with {words // 500:,} words; of each worker "
        f"{max(peaks):,.0f} MB; {said}"
    )


def driven(paths: str, engine: str) -> tuple[float, str]:
    """The most memory that this process ever had once it has had a model fitted, and what was to be said of that."""
    start = time.perf_counter()
    fitted = verbs.fit(paths, "label", engine=engine, **TEXT)
    seconds, peak = time.perf_counter() - start, peak_of(os.getpid())
    written = len(store.to_bytes(fitted.trained)) / 1e6
    return peak, f"{seconds:.0f} s; model file {written:,.1f} MB. {fitted.notes[-1]}"


def peak_of(process: int) -> float:
    """The most memory that a process ever had, in MB."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1e3
    return 0.0


def main() -> None:
    """Run all, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=120)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    asked = parser.parse_args()
    os.environ["CANDIDE_THREADS"] = "1"
    busy = os.getloadavg()[0]
    lines = ["# Clusters on one machine", "", *(__doc__ or "").splitlines()[4:], ""]
    lines += [f"{os.cpu_count()} cores, and {busy:.0f} processes ready to run when it began."]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sets = (("text", documents, asked.megabytes), ("numbers", numbers, asked.rows))
        for kind, made, size in sets:
            table = made(size)
            cut = len(table) // 2
            parts = {"train": table[:cut], "test": table[cut:], "few": table[: len(table) // 50]}
            parts["half"] = table[: cut // 2]
            paths = [in_files(part, folder / f"{kind} {which}") for which, part in parts.items()]
            lines += ["", f"## {kind.capitalize()}: {cut:,} rows, {table[:cut].nbytes / 1e6:,.0f} MB", ""]
            lines += race(kind, paths, folder, asked.workers)
            (RESULTS / "clusters.md").write_text("\n".join(lines) + "\n")
        if not missing("dask"):
            lines += ["", "## Memory", "", *memory_of(asked.words, folder)]
    (RESULTS / "clusters.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
