"""Dask: parts are tasks, and a tree of tasks adds up what they left.

Work is sent to a scheduler at an `address`, to the client that is at hand, or to a scheduler and workers within this
process, which are started for the purpose.
"""

from __future__ import annotations

import atexit
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any
from uuid import uuid4

from candide.data.advice import Install, PythonCode
from candide.data.errors import OptionRefused
from candide.data.progress import Report
from candide.engines.base.cluster import TOGETHER, Cluster
from candide.engines.base.passes import Job, Left
from candide.engines.base.plan import Plan
from candide.kernels.threads import thread_count
from candide.sources.frame import FrameSource

AHEAD = 64
"""So many parts are answered at most before their rows are asked for."""
PATIENCE = 30
"""Seconds that a scheduler is given to answer."""
CLIENTS: dict[str, Any] = {}
"""The clients that were opened, by the address of their scheduler."""


@dataclass(frozen=True)
class Dask(Cluster):
    """A scheduler of Dask and its workers."""

    name: str = "dask"

    def is_frame(self, data: Any) -> bool:
        return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "to_delayed")

    def frame_source(self, frame: Any, options: dict[str, Any]) -> FrameSource:
        columns = getattr(frame, "_meta", None)
        if columns is None:  # a bag knows its columns only by its rows
            columns = frame.take(1, npartitions=-1)
        return FrameSource.of_frame(frame, partial(brought, frame), columns, options, frame.npartitions)

    def parts_of(self, source: FrameSource) -> list[Any]:
        found: list[Any] = source.frame.to_delayed()
        return found

    def reduced(self, plan: Plan, job: Job, report: Report | None) -> Left:
        client = connected(self.address)
        with told_of_parts(client, plan, report) as topic:
            delayed, sent = tasks(job)
            level = [delayed(left_by_part)(sent, at, part, topic) for at, part in enumerate(plan.parts, start=1)]
            while len(level) > 1:
                groups = [level[at : at + TOGETHER] for at in range(0, len(level), TOGETHER)]
                level = [delayed(parts_together)(sent, group) for group in groups]
            found: Left = client.compute(level[0], optimize_graph=False).result()
        return found

    def in_order(self, plan: Plan, job: Job, report: Report | None) -> Iterator[Left]:
        client, waiting = connected(self.address), deque[Any]()
        with told_of_parts(client, plan, report) as topic:
            delayed, sent = tasks(job)
            for at, part in enumerate(plan.parts, start=1):
                waiting.append(client.compute(delayed(left_by_part)(sent, at, part, topic)))
                if len(waiting) > AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def answered(self, source: Any, work: Callable[[Any], Any], reads: Sequence[str]) -> Any:
        delayed = package("dask").delayed
        sent = delayed(pickle.loads, pure=False)(pickle.dumps((source.unattached(), work), protocol=5))
        if not hasattr(source.frame, "map_partitions") or not hasattr(source.frame, "_meta"):
            advice = "Make one: ", PythonCode("bag.to_dataframe()"), "."
            raise OptionRefused("Only a DataFrame is answered where it lies.", advice=advice)
        meta = answered_part(source.frame._meta, (source.unattached(), work))
        return source.frame.map_partitions(answered_part, sent, meta=meta)


def answered_part(frame: Any, sent: tuple[FrameSource, Callable[[Any], Any]]) -> Any:
    """A part of a DataFrame with answers beside it; runs on a worker."""
    source, work = sent
    part = source.of_part(frame, 0)
    answers = work(part).to_pandas(ignore_metadata=True)
    rows = frame if part.wanted is None else frame[part.wanted]
    rows = rows if source.selection.columns is None else rows[list(part.columns)]
    return package("pandas").concat([rows, answers.set_axis(rows.index)], axis="columns")


def tasks(job: Job) -> tuple[Any, Any]:
    """How a task is made, and the job as one: sent once, and made again where a worker is lost."""
    delayed = partial(package("dask").delayed, pure=False)
    return delayed, delayed(pickle.loads)(pickle.dumps(job, protocol=5))


def left_by_part(job: Job, number: int, part: Any, topic: str) -> Left:
    """What a part leaves; runs on a worker."""
    left = job.left_by(number, [part])
    if topic:
        package("distributed").get_worker().log_event(topic, number)
    return left


def parts_together(job: Job, left: Sequence[Left]) -> Left:
    """What several parts left, as one; runs on a worker."""
    return job.together(left)


@contextmanager
def told_of_parts(client: Any, plan: Plan, report: Report | None) -> Iterator[str]:
    """Have whoever watches told of every part that is done, by a topic of events; none where nobody watches."""
    if report is None:
        yield ""
        return
    topic, done = f"candide-{uuid4()}", set[int]()

    def tell(event: tuple[float, int]) -> None:
        if event[1] not in done:  # a part may be worked on twice, where a worker was lost
            done.add(event[1])
            report(plan.size_of(event[1] - 1))

    client.subscribe_topic(topic, tell)
    try:
        yield topic
    finally:
        client.unsubscribe_topic(topic)


def brought(frame: Any) -> Iterator[Any]:
    """The parts of a frame, one after the other, as they come here."""
    return (part.compute() for part in frame.to_delayed())


def package(name: str) -> Any:
    """A package of Dask, or a sentence that says how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise OptionRefused("The engine 'dask' needs Dask:", advice=Install("candide[dask]")) from None


def connected(address: str) -> Any:
    """A client of the scheduler at an address; else the one at hand, else one within this process."""
    distributed = package("distributed")
    if address:
        return client_of(address)
    try:
        return distributed.default_client()
    except ValueError:
        return local_client()


def client_of(address: str) -> Any:
    """A client of the scheduler at an address, kept as long as Python runs or until somebody closes it."""
    if address in CLIENTS and CLIENTS[address].status == "running":
        return CLIENTS[address]
    try:
        client = package("distributed").Client(address, set_as_default=False, timeout=PATIENCE)
    except OSError as problem:
        raise OptionRefused(f"No scheduler of Dask answers at '{address}': {problem}") from None
    atexit.register(client.close)
    CLIENTS[address] = client
    return client


@cache
def local_client() -> Any:
    """A client of a cluster within this process, one thread a core: our kernels let threads work side by side."""
    distributed = package("distributed")
    cluster = distributed.LocalCluster(
        processes=False, n_workers=1, threads_per_worker=thread_count(), dashboard_address="127.0.0.1:0"
    )
    client = distributed.Client(cluster, set_as_default=False)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client
