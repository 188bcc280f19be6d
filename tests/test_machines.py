"""The same rows give the same file, whatever the processor."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import machine_fits
import other_processor
from candide import NaiveBayes
from candide.data.grid import NEAR, STEP, first_largest, quantized, quantized_number, quantized_share
from candide.selection.newton import Bends, minimum
from candide.store.container import contents

THOROUGH = os.environ.get("CANDIDE_THOROUGH") == "1"
ASKED = THOROUGH or os.environ.get("CANDIDE_OTHER_PROCESSOR") == "1"
TABLES = [f"{kind} {seed}" for kind in ("every_kind", "bells", "symmetric") for seed in range(3)] + ["together 1"]
TEXTS = ["texts 0", "texts 1", "mixed 0", "mixed 1"]
REAL = [
    "table adult_train", "table titanic3", "table german_credit", "table heart_cleveland", "text sms_spam",
    "pmlb iris", "pmlb car", "pmlb crx", "pmlb auto", "pmlb flags", "pmlb led7", "pmlb monk2", "pmlb diabetes",
]  # fmt: skip


def elsewhere(names, folder):
    """The files as another processor writes them; with kernels of its own where `make other-processor` asks."""
    for name in names:
        pd.to_pickle(machine_fits.rows_of(name), folder / f"{name}.pickle")
    subprocess.run([sys.executable, machine_fits.__file__, folder], env=other_processor.variables(ASKED), check=True)
    return folder


@pytest.fixture(scope="module")
def tables_elsewhere(tmp_path_factory):
    return elsewhere(TABLES, tmp_path_factory.mktemp("tables"))


@pytest.fixture(scope="module")
def texts_elsewhere(tmp_path_factory):
    return elsewhere(TEXTS, tmp_path_factory.mktemp("texts"))


@pytest.fixture(scope="module")
def real_elsewhere(tmp_path_factory):
    return elsewhere(REAL, tmp_path_factory.mktemp("real"))


def assert_equal_files(name, folder):
    mine, theirs = machine_fits.model_file(machine_fits.rows_of(name)), (folder / f"{name}.candide").read_bytes()
    texts, others = (json.loads(contents(data)[0]["model"]) for data in (mine, theirs))
    assert texts == others
    assert mine == theirs


@pytest.mark.parametrize("name", TABLES)
def test_another_processor_writes_the_same_file(name, tables_elsewhere):
    assert_equal_files(name, tables_elsewhere)


def test_a_layer_of_products_is_among_what_is_compared():
    assert NaiveBayes().fit(*machine_fits.rows_of("together 1")).trained_.tuning.layer is not None


@pytest.mark.skipif(not ASKED, reason="compiles the kernels of text anew: make other-processor")
@pytest.mark.parametrize("name", TEXTS)
def test_another_processor_writes_the_same_file_of_texts(name, texts_elsewhere):
    assert_equal_files(name, texts_elsewhere)


@pytest.mark.skipif(not THOROUGH, reason="takes minutes: CANDIDE_THOROUGH=1")
@pytest.mark.skipif(not machine_fits.DATA.is_dir(), reason="the data sets are not here")
@pytest.mark.parametrize("name", REAL)
def test_another_processor_writes_the_same_file_of_real_data(name, real_elsewhere):
    assert_equal_files(name, real_elsewhere)


def test_the_other_processor_is_another_one():
    """Else the tests above would compare a thing with itself."""
    if not other_processor.vector_instructions():
        pytest.skip("NumPy found nothing in this processor that it could do without")
    ask = "import other_processor; print(other_processor.vector_instructions())"
    said = subprocess.run(
        [sys.executable, "-c", ask], env=other_processor.variables(), check=True, capture_output=True, text=True,
        cwd=Path(other_processor.__file__).parent,
    )  # fmt: skip
    assert said.stdout.strip() == "[]"


def test_numbers_on_the_grid():
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=1000) * 10.0 ** rng.integers(-3, 4, 1000)
    shaken = numbers * (1 + rng.choice([-1, 1], 1000) * 1e-15)
    assert np.array_equal(quantized(numbers), quantized(shaken))
    assert np.array_equal(quantized_share(numbers), quantized_share(shaken))
    assert np.abs(quantized(numbers) - numbers).max() <= STEP / 2
    assert np.abs(quantized_share(numbers) / numbers - 1).max() <= STEP
    assert quantized_number(numbers[0]) == quantized(numbers)[0]


def test_the_first_of_nearly_equal_answers_is_taken():
    scores = np.array([[0.0, NEAR / 2], [0.0, 2 * NEAR], [-np.inf, -np.inf], [-np.inf, 1.0]])
    assert first_largest(scores).tolist() == [0, 1, 0, 1]


class WithACorner:
    """exp(x) - 2 x + x y / 10 + (y - 1)^2 / 2 + (z - 5)^2 / 2."""

    def value_and_slope(self, point):
        x, y, z = point
        value = np.exp(x) - 2 * x + x * y / 10 + (y - 1) ** 2 / 2 + (z - 5) ** 2 / 2
        return float(value), np.array([np.exp(x) - 2 + y / 10, y - 1 + x / 10, z - 5])

    def curvature(self, point):
        return Bends(np.diag([np.exp(point[0]), 1.0, 1.0]), np.array([[0, 0.1, 0], [0.1, 0, 0], [0, 0, 0]]))


def test_a_minimum_is_found_to_its_last_digits_from_wherever_a_search_begins():
    loss, limits = WithACorner(), np.array([[-np.inf, np.inf], [-np.inf, np.inf], [-1.0, 1.0]])
    for start in ([0.6, 0.9, 1.0], [0.7, 1.0, -1.0], [-2.0, 9.0, 0.3], [4.0, -3.0, 0.0]):
        found = minimum(loss, np.array(start), limits, steps=60, close=1e-18)
        assert np.abs(loss.value_and_slope(found.point)[1][:2]).max() < 1e-9
        assert found.point[2] == 1.0
        assert found.value == loss.value_and_slope(found.point)[0]
