"""Real clusters on this machine, of several processes that listen on loopback only, started and stopped by tests."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

PATIENCE = 120
"""Seconds that a cluster is given to start."""


@dataclass
class Running:
    """An engine with its address, and the processes of its workers."""

    engine: str
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.engine.partition(":")[0]

    @property
    def address(self) -> str:
        return self.engine.partition(":")[2]

    def frame(self, rows, parts):
        """The rows of a pandas frame in the parts of this cluster."""
        if self.name == "dask":
            import dask.dataframe as dd

            return dd.from_pandas(rows, npartitions=parts)
        return session(self.address).createDataFrame(rows).repartition(parts)

    def rows(self, frame):
        """The rows of such a frame as a pandas one."""
        return frame.compute() if self.name == "dask" else frame.toArrow().to_pandas()


def missing(name: str) -> str:
    """Why an engine cannot be tried here; nothing where it can."""
    if name == "dask":
        return "" if find_spec("distributed") else "Dask is not installed: pip install 'candide[dask]'"
    if "PYTEST_XDIST_WORKER" in os.environ:
        return "Several workers would each start a cluster of Spark: make test-spark runs these tests in one process"
    if not find_spec("pyspark"):
        return "PySpark is not installed: make test-spark, or pip install 'candide[spark]'"
    java = shutil.which("java") or shutil.which(os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java"))
    return "" if java else "There is no Java here: make java"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(command, folder, **more) -> subprocess.Popen[bytes]:
    """A process in a group of its own, so that it can be stopped with all that it started."""
    with open(folder / "log.txt", "ab") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True, cwd=folder,
            env={**os.environ, "CANDIDE_THREADS": "1", **more},
        )  # fmt: skip


def stop(process) -> None:
    """End a process and all that it started, at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(PATIENCE)


@contextmanager
def dask_cluster(folder: Path, workers: int = 2) -> Iterator[Running]:
    """A scheduler of Dask and some worker processes."""
    from distributed import Client

    from candide.engines.dask import client_of

    address = f"tcp://127.0.0.1:{free_port()}"
    port = address.rpartition(":")[2]
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port]
    running = Running(f"dask:{address}")
    first = started([*scheduler, "--no-dashboard"], folder)
    try:
        add_workers(running, folder, workers)
        with Client(address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=PATIENCE)
            yield running
            client_of(address).close()
    finally:
        for process in (*running.workers, first):
            stop(process)


def add_workers(running: Running, folder: Path, number: int) -> None:
    """Start more workers of Dask."""
    for _ in range(number):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", running.address, "--host", "127.0.0.1"]
        more = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder)]
        running.workers.append(started([*worker, *more], folder))


@contextmanager
def spark_cluster(folder: Path, workers: int = 2) -> Iterator[Running]:
    """A standalone master of Spark, some workers, and a session of this process as their driver."""
    import pyspark

    run = [str(Path(pyspark.__file__).parent / "bin" / "spark-class")]
    address = f"spark://127.0.0.1:{free_port()}"
    here = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder), "SPARK_DAEMON_MEMORY": "256m"}
    port = address.rpartition(":")[2]
    master = [*run, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", port]
    running = Running(f"spark:{address}")
    first = started([*master, "--webui-port", "0"], folder, **here)
    try:
        for _ in range(workers):
            worker = [*run, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--cores", "1"]
            more = ["--memory", "1g", "--webui-port", "0", address]
            running.workers.append(started([*worker, *more], folder, **here))
        made = session(address)
        try:
            yield running
        finally:
            made.stop()
    finally:
        for process in (*running.workers, first):
            stop(process)


def session(address):
    """The one session of this process."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "CANDIDE_THREADS": "1"}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(address).config("spark.ui.enabled", "false")
    builder = builder.config("spark.executor.memory", "1g").config("spark.cores.max", "2")
    builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.ui.showConsoleProgress", "false")
    return builder.config("spark.executorEnv.CANDIDE_THREADS", "1").getOrCreate()


CLUSTERS = {"dask": dask_cluster, "spark": spark_cluster}
