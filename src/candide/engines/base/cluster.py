"""An engine whose workers are other processes, perhaps on other machines: rows are read where they lie.

What differs from one cluster to the next is how a part is named, how work is sent there, and how what parts left is
added up on the way home. Rows that are here already are worked on here, as `local` does.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from candide.data.batch import Batch
from candide.data.progress import Report, Watch
from candide.data.values import Key
from candide.engines.base.passes import Account, Fetching, Job, Left, Pass, Picking, Summarizing, Working
from candide.engines.base.plan import Plan
from candide.engines.local import Local
from candide.engines.protocol import Engine, Item, Result
from candide.families.base.family import Block
from candide.model.row_sample import Reservoir
from candide.model.summary import Summary
from candide.sources.frame import FrameSource
from candide.sources.opening import open_source
from candide.sources.source import ClusterPass, Source

PARTS_GUESSED = 16
"""Where nobody can tell how many parts a frame has."""

TOGETHER = 8
"""So many summaries at the most are added up by one worker at a time."""


@dataclass(frozen=True)
class Cluster(Engine):
    """What every engine of a cluster does alike. `address` is that of its head; one that is at hand where empty."""

    address: str = ""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name users write."""

    @abstractmethod
    def is_frame(self, data: Any) -> bool:
        """Whether these are rows in the parts of such a cluster."""

    @abstractmethod
    def frame_source(self, frame: Any, options: dict[str, Any]) -> FrameSource:
        """A frame as a source."""

    @abstractmethod
    def reduced(self, plan: Plan, job: Job, report: Report | None) -> Left:
        """What all parts left, added up on the way."""

    @abstractmethod
    def in_order(self, plan: Plan, job: Job, report: Report | None) -> Iterator[Left]:
        """What each part left, part by part."""

    @abstractmethod
    def parts_of(self, source: FrameSource) -> Any:
        """The parts of a frame."""

    def opened(self, data: Any, **options: Any) -> Source:
        return self.frame_source(data, options) if self.is_frame(data) else open_source(data, **options)

    def rows(self, source: Source, work: str, watch: Watch) -> Iterable[Batch]:
        parts = self.parts_of(source) if isinstance(source, FrameSource) else source.parts()
        if parts is None or (isinstance(parts, (list, tuple)) and not parts):
            return super().rows(source, work, watch)
        return Plan(source, parts, source.batches, partial(watch, work, source.size), work)

    def pick(self, batches: Iterable[Batch]) -> Reservoir:
        if not isinstance(batches, Plan):
            return super().pick(batches)
        pick = self._passed(batches, Picking(batches.number_of_parts or PARTS_GUESSED))
        lacking = pick.lacking()
        return pick.reservoir(self._passed(batches, Fetching(lacking)) if len(lacking) else ())

    def summarize(self, blocks: tuple[Block, ...], batches: Iterable[Batch], declared: Iterable[Key] = ()) -> Summary:
        if not isinstance(batches, Plan):
            return Local().summarize(blocks, batches, declared)
        found: Summary = self._passed(batches, Summarizing(blocks, tuple(declared)))
        return found

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        return self._mapped(work, items) if isinstance(items, Plan) else Local().map(work, items)

    def _passed(self, plan: Plan, work: Pass) -> Any:
        """One pass over all rows."""
        with plan.watching() as report:
            data, account = self.reduced(plan, self._job(plan, work), report)
        self._settle(plan, account)
        return work.read(data)

    def _mapped(self, work: Callable[[Any], Result], plan: Plan) -> Iterator[Result]:
        """The results of every part in turn."""
        mapping, total = Working(work), Account()
        with plan.watching() as report:
            for data, account in self.in_order(plan, self._job(plan, mapping), report):
                if account.problem is not None:
                    raise account.problem
                total += account
                yield from mapping.read(data)
        self._settle(plan, total)

    def _job(self, plan: Plan, work: Pass) -> Job:
        frame = plan.source.unattached() if isinstance(plan.source, FrameSource) else None
        return Job(work, plan.steps, frame, plan.source.rejects.path is not None)

    def _settle(self, plan: Plan, account: Account) -> None:
        """Tell the source what happened to its rows elsewhere, or raise what was refused there."""
        if account.problem is not None:
            raise account.problem
        source = plan.source
        source.rejects.receive(account.rejected, account.rejects)
        source.unwanted = account.unwanted
        source.passes.append(ClusterPass(plan.work, account.parts, account.nbytes))
        source.refuse_nothing_left(account.rows)
