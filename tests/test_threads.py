"""Work in parallel: results in order, the first failure for all, and work inside work, on threads that are kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import candide
from candide.data.cached import cached_property
from candide.kernels import compiled
from candide.kernels.threads import in_parallel

SOURCES = Path(candide.__file__).parent


def nested(depth: int) -> int:
    """How many leaves a tree has of which every node asks for four in parallel."""
    return sum(in_parallel(nested, [depth - 1] * 4, threads=2)) if depth else 1


def test_work_inside_work_ends_though_all_threads_wait():
    assert sum(in_parallel(nested, [3] * 8, threads=2)) == 8 * 4**3


def test_results_come_in_order_whoever_did_the_work():
    assert list(in_parallel(lambda item: item * item, range(500), threads=3)) == [item**2 for item in range(500)]


def test_the_first_to_fail_speaks_for_all_and_nothing_goes_on_afterwards():
    begun, ended = [], []

    def work(item: int) -> None:
        begun.append(item)
        try:
            if item >= 3:
                raise ValueError(item)
        finally:
            ended.append(item)

    with pytest.raises(ValueError, match=r"^3$"):
        list(in_parallel(work, range(100), threads=2))
    assert sorted(begun) == sorted(ended)
    assert len(begun) < 100


def test_threads_are_kept_from_one_call_to_the_next():
    meet = threading.Barrier(2, timeout=30)

    def who(_: int) -> str:
        meet.wait()
        return threading.current_thread().name

    seen = {name for _ in range(20) for name in in_parallel(who, range(2), threads=2)}
    assert len(seen - {threading.current_thread().name}) <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    assert list(in_parallel(abs, range(50), threads=2)) == list(range(50))
    child = os.fork()
    if not child:
        os._exit(0 if list(in_parallel(abs, range(50), threads=2)) == list(range(50)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INTERRUPTED = """
import threading
from candide.kernels import compiled
from candide.kernels.threads import in_parallel
wait = threading.Event.wait
def interrupted(event, timeout=None):
    # Where a thread that was just started is waited for.
    done = wait(event, timeout)
    if threading.current_thread() is threading.main_thread():
        threading.Event.wait = wait
        raise KeyboardInterrupt
    return done
threading.Event.wait = interrupted
list(in_parallel(abs, [1, 2, 3], threads=2))
"""


def test_a_process_that_is_interrupted_while_threads_start_ends():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=120)
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


class Asked:
    """Something with a property that is only worked out while another thread works out that of another object."""

    meet = threading.Barrier(2, timeout=30)

    @cached_property
    def value(self) -> object:
        self.meet.wait()
        return object()


def test_properties_of_two_objects_are_worked_out_side_by_side_and_once():
    one, other = Asked(), Asked()
    values = list(in_parallel(lambda asked: asked.value, [one, other], threads=2))
    assert values == [one.value, other.value]


def test_no_property_takes_turns_with_those_of_other_objects():
    locked = [path.name for path in SOURCES.rglob("*.py") if "functools import cached_property" in path.read_text()]
    assert locked == ["cached.py"]


def one_more(value):
    return value + 1


def test_ctrl_c_waits_while_a_kernel_is_made():
    """Between two steps of LLVM's it left code that belonged to nobody, or to two: a fault of memory, at times."""
    kernel, seen = compiled(one_more), []
    load = kernel._cache.load_overload

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        seen.append("loaded")
        return load(*arguments)

    kernel._cache.load_overload = interrupted
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            kernel(1)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["loaded"]
    assert kernel(1) == 2
