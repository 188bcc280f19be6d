"""Spark: parts are the partitions of a frame (`mapInArrow`), and rounds of groups add up what they left.

There are no RDDs, so a session of Spark Connect will do. Work is sent to the master at an `address` (`spark://host:port`,
`local[4]`, or `sc://host` for Connect), else to the session that is at hand, else to this machine.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa

from candide.data.advice import Install
from candide.data.errors import OptionRefused
from candide.data.progress import Report
from candide.engines.base.cluster import TOGETHER, Cluster
from candide.engines.base.passes import Job, Left
from candide.engines.base.plan import Plan
from candide.sources.frame import FrameSource
from candide.sources.kinds import one_chunk
from candide.sources.selection import Selection

LEFT = "number long, data binary, account binary"
"""What parts leave, as rows of a frame: the number of the first part, the bytes, and what happened in them."""
TASKS_A_CORE, ROWS_A_TASK, BYTES_A_TASK = 4, 500_000, 1 << 26
"""Files are read several by one task: a task costs a tenth of a second, so there are few a core, and one unless each of
more would have so many rows or bytes to read."""
COME_HOME = 2
"""So many summaries are added up here: one round of tasks less."""
MOST_PARTS = 4096
"""Where nobody can tell how many parts a frame has, no more are told apart when they are added up."""
LOOK = 0.3
"""Seconds between two looks at how many parts are done."""

Batches = Iterable[Any]
"""Record batches of Arrow."""


@dataclass(frozen=True)
class Spark(Cluster):
    """A session of Spark, its driver here."""

    name: str = "spark"

    def is_frame(self, data: Any) -> bool:
        return type(data).__module__.startswith("pyspark.sql") and hasattr(data, "mapInArrow")

    def frame_source(self, frame: Any, options: dict[str, Any]) -> FrameSource:
        nothing = frame.limit(0).toArrow()
        return FrameSource.of_frame(frame, partial(brought_from, frame), nothing, options, number_of_parts(frame))

    def parts_of(self, source: FrameSource) -> Any:
        return source.frame

    def reduced(self, plan: Plan, job: Job, report: Report | None) -> Left:
        with told_of_tasks(self._session(plan), plan, report):
            left, parts = self._left(plan, job)
            while parts > COME_HOME:
                parts = -(-parts // TOGETHER)
                left = left.groupBy(group_of(parts)).applyInArrow(adding_groups(job, parts), LEFT)
            with workers_without_candide():
                found = left.toArrow()
        return added(job, found)

    def in_order(self, plan: Plan, job: Job, report: Report | None) -> Iterator[Left]:
        with told_of_tasks(self._session(plan), plan, report):
            left, _ = self._left(plan, job)
            with workers_without_candide():
                for row in left.toLocalIterator(prefetchPartitions=True):
                    yield left_in(row)

    def answered(self, source: Any, work: Callable[[Any], Any], reads: Sequence[str]) -> Any:
        """Only columns that are read go to Python: the others stay with Spark, which drops what nobody asks for."""
        functions = package_of_spark("pyspark.sql.functions")
        frame, like, where = source.frame, source.unattached(), source.selection.where
        schema = work(like).schema
        written = package_of_spark("pyspark.sql.pandas.types").from_arrow_schema(schema)
        read = [name for name in source.columns if name in set(reads)]
        names = list(dict.fromkeys([*read, *(where.columns if where else ())])) or frame.columns[:1]
        like.selection = Selection(tuple(read) if read else None, where)
        by_place = {name: f"{at}" for at, name in enumerate(frame.columns)}  # names may hold dots, or differ by case
        answer = functions.arrow_udf(answering(like, work, names, schema), written).asNondeterministic()
        answers = answer(*(by_place[name] for name in names)).alias("answers")
        beside = frame.toDF(*by_place.values()).select("*", answers)
        if where is not None:
            beside = beside.where(functions.col("answers").isNotNull())
        kept = [by_place[name] for name in source.columns]
        return beside.select(*kept, "answers.*").toDF(*source.columns, *schema.names)

    def _session(self, plan: Plan) -> Any:
        return connected_session(self.address) if isinstance(plan.parts, list) else plan.parts.sparkSession

    def _left(self, plan: Plan, job: Job) -> tuple[Any, int]:
        """A frame of what each part leaves, and how many there are."""
        if not isinstance(plan.parts, list):
            return plan.parts.mapInArrow(over_partition(job), LEFT), number_of_parts(plan.parts) or MOST_PARTS
        session = self._session(plan)
        tasks = number_of_tasks(plan, cores_of(session))
        numbers = session.range(0, len(plan.parts), 1, tasks)
        return numbers.mapInArrow(over_sources(job, plan.parts), LEFT), tasks


def over_partition(job: Job) -> Callable[[Batches], Batches]:
    """What is run on a partition of a frame."""
    sent = pickle.dumps(job, protocol=5)

    def run(batches: Batches) -> Batches:
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        yield left_as_row(number_here(), received(sent).left_by(number_here(), tables))

    return run


def over_sources(job: Job, parts: list[Any]) -> Callable[[Batches], Batches]:
    """What is run on a partition of numbers: the sources of these numbers are read there, one after the other."""
    sent = pickle.dumps((job, parts), protocol=5)

    def run(batches: Batches) -> Batches:
        job, parts = received(sent)
        indices = [index for batch in batches for index in batch.column(0).to_pylist()]
        yield left_as_row(number_here(), job.left_by(indices[0] + 1, [parts[at] for at in indices], len(indices)))

    return run


def answering(source: FrameSource, work: Callable[[Any], Any], names: list[str], schema: Any) -> Callable[..., Any]:
    """What is run on these columns of some rows: the answers of each row as one value, missing where none is wanted.

    It counts as not deterministic: else Spark would answer twice where rows are kept by what was answered.
    """
    sent = pickle.dumps((source, work), protocol=5)

    def run(*columns: pa.Array) -> pa.Array:
        source, work = received(sent)
        part = source.of_part(pa.table(list(columns), names), 0)
        answers = work(part).cast(schema).combine_chunks()
        found = pa.StructArray.from_arrays([one_chunk(column) for column in answers.columns], schema.names)
        if part.wanted is None:
            return found
        return found.take(pa.array(np.cumsum(part.wanted) - 1, mask=~part.wanted))

    return run


def number_of_tasks(plan: Plan, cores: int) -> int:
    """How many tasks read the files: one a core, or more where there is much to read."""
    size = plan.source.size
    at_once = {"bytes": BYTES_A_TASK, "rows": ROWS_A_TASK}.get(size.unit, 1)
    enough = len(plan.parts) if size.amount is None else -(-size.amount // at_once)
    return min(len(plan.parts), max(cores, min(enough, TASKS_A_CORE * cores)))


@lru_cache(maxsize=4)
def received(sent: bytes) -> Any:
    """What was sent, opened once by each worker however many parts it works on: a model takes a while."""
    return pickle.loads(sent)


def number_here() -> int:
    """The number of the partition that is worked on, from 1; runs on a worker."""
    context = package_of_spark("pyspark").TaskContext.get()
    return 1 + (0 if context is None else int(context.partitionId()))


def cores_of(session: Any) -> int:
    """How many tasks run at a time; many, where a session of Spark Connect does not tell."""
    return int(session.sparkContext.defaultParallelism) if hasattr(session, "_jsc") else MOST_PARTS


def adding_groups(job: Job, groups: int) -> Callable[[Any], Any]:
    """What is run on a group of what was left, in the order of the parts."""
    sent = pickle.dumps(job, protocol=5)

    def run(table: Any) -> Any:
        number = 1 + (table.column("number")[0].as_py() - 1) % groups
        return pa.Table.from_batches([left_as_row(number, added(received(sent), table))])

    return run


def added(job: Job, table: Any) -> Left:
    """What the parts of a table left, as one."""
    return job.together(map(left_in, table.sort_by("number").to_pylist()))


def group_of(groups: int) -> Any:
    """The number of the group that a part belongs to, as a column."""
    functions = package_of_spark("pyspark.sql.functions")
    return ((functions.col("number") - 1) % groups).alias("group")


def left_as_row(number: int, left: Left) -> Any:
    """What was left as a record batch of one row; the data in the form it has, which is the model file's own."""
    data, account = left
    columns = [pa.array([number]), pa.array([data], pa.binary()), pa.array([pickle.dumps(account)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["number", "data", "account"])


def left_in(row: Any) -> Left:
    """What `left_as_row` wrote."""
    return bytes(row["data"]), pickle.loads(bytes(row["account"]))


def number_of_parts(frame: Any) -> int | None:
    """How many partitions a frame has; a session of Spark Connect does not tell."""
    try:
        return int(frame.rdd.getNumPartitions())
    except Exception:  # what Connect raises depends on its version
        return None


def brought_from(frame: Any) -> Iterator[Any]:
    """The rows of a frame, some at a time, as they come here."""
    rows = iter(frame.toLocalIterator(prefetchPartitions=True))
    names = frame.columns
    while some := [row.asDict() for _, row in zip(range(10_000), rows, strict=False)]:
        yield pa.Table.from_pylist(some).select(names)


@contextmanager
def workers_without_candide() -> Iterator[None]:
    """Say what to do where the Python of the workers is another one than that of the driver."""
    try:
        yield
    except package_of_spark("pyspark.errors").PySparkException as problem:
        if "No module named 'candide'" not in str(problem):
            raise
        raise OptionRefused(
            "The Python of Spark's workers has no Candide.",
            advice=("Name another with the variable PYSPARK_PYTHON, or run there: ", Install("candide[spark]")),
        ) from None


@contextmanager
def told_of_tasks(session: Any, plan: Plan, report: Report | None) -> Iterator[None]:
    """Have whoever watches told how many tasks are done, where the session knows."""
    if report is None or not hasattr(session, "_jsc"):
        yield
        return
    done, told = Event(), list[int]()
    tracker = session.sparkContext.statusTracker()
    looking = Thread(target=look_at_tasks, args=(tracker, plan, report, told, done), daemon=True)
    looking.start()
    try:
        yield
    finally:
        done.set()
        looking.join()
    report(max(0, (plan.source.size.amount or 0) - sum(told)))


def look_at_tasks(tracker: Any, plan: Plan, report: Report, told: list[int], done: Event) -> None:
    """Tell of each task of the first stage once it is done."""
    amount = plan.source.size.amount or 0
    while not done.wait(LOOK):
        for stage in sorted(tracker.getActiveStageIds())[:1]:
            about = tracker.getStageInfo(stage)
            if about is not None and about.numTasks:
                told.append(max(0, amount * about.numCompletedTasks // about.numTasks - sum(told)))
                report(told[-1])


def package_of_spark(name: str) -> Any:
    """A module of PySpark, or a sentence that says how to get it."""
    try:
        return import_module(name)
    except ImportError:
        raise OptionRefused("The engine 'spark' needs PySpark:", advice=Install("candide[spark]")) from None


def connected_session(address: str) -> Any:
    """A session of the master at an address; else the one at hand, else one of this machine."""
    kind = package_of_spark("pyspark.sql").SparkSession
    active = kind.getActiveSession()
    if active is not None and not address:
        return active
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = kind.builder.appName("candide")
    if address.startswith("sc://"):
        return builder.remote(address).getOrCreate()
    return builder.master(address or "local[*]").getOrCreate()
