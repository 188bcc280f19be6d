"""Work in parallel: results in order, the first failure for all, and work inside work, on threads that are kept."""

from __future__ import annotations

import os
import threading

import pytest

from candide.kernels.threads import in_parallel


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
