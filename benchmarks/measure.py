"""Timing, peak memory and tables, shared by the benchmarks."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def best_of(*works: Callable[[], object], times: int = 5) -> list[float]:
    """The shortest wall time of each work in seconds: they take turns, so that a busy moment hits all alike."""
    for work in works:
        work()
    rounds = [[wall_time(work) for work in works] for _ in range(times)]
    return [min(times) for times in zip(*rounds, strict=True)]


def wall_time(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def extra_memory(work: Callable[[], object]) -> float:
    """How many MB the process grew at most while working, sampled every millisecond by a thread."""
    before, peak, done = resident(), resident(), threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    work()
    peak = max(peak, resident())
    done.set()
    watcher.join()
    return (peak - before) / 1e6


def resident() -> int:
    """The memory of this process in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE")


def peak_memory() -> float:
    """The most memory that this process had since it began its program, in MB.

    What `getrusage` tells is at least what the process had that started it.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3


def run_python(*arguments: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout


def import_time(statement: str, times: int = 5) -> float:
    """The shortest wall time in seconds of a fresh interpreter running the statement, start-up not counted."""
    empty = min(wall_time(lambda: run_python("-c", "")) for _ in range(times))
    return min(wall_time(lambda: run_python("-c", statement)) for _ in range(times)) - empty


def machine(*packages: str) -> str:
    """Cores, Python and library versions in one line."""
    libraries = ", ".join(f"{name} {version(name)}" for name in packages)
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {libraries}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that also reads well as plain text."""
    widths = [max(len(row[index]) for row in (header, *rows)) for index in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([line(header), line(["-" * width for width in widths]), *map(line, rows)])


def publish(name: str, text: str) -> None:
    """Print a report and write it to the results."""
    print(text)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text + "\n", encoding="utf-8")
