"""How the tests run: BLAS on one thread, and CANDIDE_THOROUGH=1 tries four times as many examples of every property."""

import os
import sys
from pathlib import Path

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # NumPy is not imported yet; more only wait for each other
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # some tests start Python: modules are compiled once, as kernels are
sys.dont_write_bytecode = False

from hypothesis import HealthCheck, settings  # noqa: E402

EXAMPLES = 10

unhurried = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=EXAMPLES, derandomize=True, **unhurried)
settings.register_profile("thorough", max_examples=4 * EXAMPLES, derandomize=True, **unhurried)
settings.load_profile("thorough" if os.environ.get("CANDIDE_THOROUGH") == "1" else "default")

ON_DISK = Path(__file__).parents[1] / "src" / "candide" / "kernels" / "__pycache__"
"""Where compiled kernels lie."""
FIRST_RUN = os.environ.setdefault("CANDIDE_TESTS_RUN_FIRST", "no" if any(ON_DISK.glob("*.lock")) else "yes")
"""Whether no tests have compiled any yet: said by whoever starts the workers, before any of them does."""


def pytest_sessionstart() -> None:
    """Workers compile together what of the kernels of a fresh clone nothing else, such as the demo, has compiled."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and FIRST_RUN == "yes":
        from compiling import compile_halves

        compile_halves(int(worker.removeprefix("gw")))
        os.environ["CANDIDE_TESTS_RUN_FIRST"] = "no"  # of those that tests start
