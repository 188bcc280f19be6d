"""How long until the first answer: `candide predict` on one row beside `import sklearn.naive_bayes`, in one run.

    python benchmarks/start_up.py

Both are whole processes, from nothing to the end, and take turns. Kernels are compiled before the clock starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import best_of, machine, publish, table

HERE = Path(__file__).parents[1]
ORCHARD = HERE / "examples" / "orchard.csv"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(HERE / "src")}
TIMES = 11


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


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
        + table(("process", "seconds", "of scikit-learn's import"), rows),
    )


if __name__ == "__main__":
    main()
