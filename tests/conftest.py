"""How the tests run: BLAS on one thread, and CANDIDE_THOROUGH=1 tries four times as many examples of every property."""

import os
import sys

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # NumPy is not imported yet; more only wait for each other
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # some tests start Python: modules are compiled once, as kernels are
sys.dont_write_bytecode = False

import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

EXAMPLES = 10

unhurried = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("default", max_examples=EXAMPLES, derandomize=True, **unhurried)
settings.register_profile("thorough", max_examples=4 * EXAMPLES, derandomize=True, **unhurried)
settings.load_profile("thorough" if os.environ.get("CANDIDE_THOROUGH") == "1" else "default")

OF_TEXTS = ("recipes", "stream_memory", "streams", "text", "text_read_once", "words")
"""The files that need most kernels of texts."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of texts begin the second half: of two workers one compiles kernels of tables first, the other of texts."""
    of_texts = {f"test_{name}" for name in OF_TEXTS}
    texts = [item for item in items if item.path.stem in of_texts]
    others = [item for item in items if item.path.stem not in of_texts]
    half = len(items) // 2
    items[:] = others[:half] + texts + others[half:]
