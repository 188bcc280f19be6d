"""How long until the first answer: `candide predict` on one row beside `import sklearn.naive_bayes`, in one run.

    python benchmarks/start_up.py

Both are whole processes, from nothing to the end, and take turns. Kernels are compiled before the clock starts; what a
new user waits for, whose machine has compiled none yet, is told beside it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import best_of, machine, publish, table, wall_time

HERE = Path(__file__).parents[1]
ORCHARD = HERE / "examples" / "orchard.csv"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE / "src")}
MESSAGES = HERE / "examples" / "messages.jsonl"
TIMES = 11
IN_PYTHON = f"import pandas, candide; candide.NaiveBayes().fit(pandas.read_csv({str(ORCHARD)!r}), 'fruit')"


def run(*arguments: str, environment: dict[str, str] = ENVIRONMENT) -> None:
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )


def first_and_next(*arguments: str) -> tuple[str, str]:
    """Seconds of a process where no kernel was compiled before, and of the same once they are."""
    with tempfile.TemporaryDirectory() as kernels:
        environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": kernels}
        first, later = (wall_time(lambda: run(*arguments, environment=environment)) for _ in range(2))
    return f"{first:.0f}", f"{later:.1f}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        mixed, simple, row = (str(Path(folder, name)) for name in ("mixed.candide", "simple.candide", "row.csv"))
        Path(row).write_text("".join(ORCHARD.open().readlines()[:2]))
        fit = ("-m", "candide", "fit", str(ORCHARD), "--label", "fruit", "-o")
        run(*fit, mixed)
        run(*fit, simple, "--family", "spots=gaussian")
        peer, first, second, nothing = best_of(
            lambda: run("-c", "import sklearn.naive_bayes"),
            lambda: run("-m", "candide", "predict", mixed, row),
            lambda: run("-m", "candide", "predict", simple, row),
            lambda: run("-c", "import numpy, pyarrow.csv, numba"),
            times=TIMES,
        )
        new = (
            ("candide fit of a table (orchard.csv)", *first_and_next(*fit, mixed)),
            ("the same in Python: import, read, NaiveBayes().fit", *first_and_next("-c", IN_PYTHON)),
            ("candide fit of texts (messages.jsonl)", *first_and_next(
                "-m", "candide", "fit", str(MESSAGES), "--label", "label", "-o", str(Path(folder, "texts.candide"))
            )),
        )  # fmt: skip
    rows = [
        ("python -c 'import sklearn.naive_bayes'", f"{peer:.2f}", "1.00"),
        ("candide predict, a model with counts (needs scipy.special)", f"{first:.2f}", f"{first / peer:.2f}"),
        ("candide predict, a model of gaussians and categories", f"{second:.2f}", f"{second / peer:.2f}"),
        ("python -c 'import numpy, pyarrow.csv, numba', for scale", f"{nothing:.2f}", f"{nothing / peer:.2f}"),
    ]
    publish(
        "start_up",
        "# From nothing to one answer\n\n"
        f"Best of {TIMES} whole processes each, taking turns, kernels compiled before. "
        f"{machine('numpy', 'scipy', 'numba', 'pyarrow', 'scikit-learn', 'typer')}.\n\n"
        + table(("process", "seconds", "of scikit-learn's import"), rows)
        + "\n\nThe first time on a new machine kernels are compiled, on one core; they are kept for all later runs.\n\n"
        + table(("process", "seconds the first time", "afterwards"), new),
    )


if __name__ == "__main__":
    main()
