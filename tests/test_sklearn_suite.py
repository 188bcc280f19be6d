"""scikit-learn's own tests of naive Bayes, and its estimator checks, run on the drop-in classes.

The installed `sklearn.tests.test_naive_bayes` is loaded once more with our five classes in place of its own.
"""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from types import ModuleType
from unittest.mock import patch

import numpy as np
import pytest
import sklearn.naive_bayes
from sklearn.utils.estimator_checks import parametrize_with_checks

import candide

NAMES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")

LEFT_OUT = {
    "test_gnb_check_update_with_no_data": "calls a private helper that merges floating-point variances",
    "test_gnb_array_api_compliance": "asks for arrays of other libraries and devices, which are not offered",
    "test_discretenb_provide_prior": (
        "expects a refused fit to have replaced classes_; here a refused fit changes nothing "
        "(its other assertions are in test_drop_in.py)"
    ),
    "test_discretenb_provide_prior_with_partial_fit[CategoricalNB]": (
        "learns iris measurements as categories, cutting 1.9 to 1; here fractions are refused"
    ),
    "test_estimator_checks[CategoricalNB()-check_sample_weight_equivalence_on_dense_data]": (
        "gives fractions as categories, which are refused"
    ),
    "test_estimator_checks[CategoricalNB()-check_classifiers_one_label_sample_weights]": (
        "gives fractions as categories, which are refused"
    ),
}


def loaded_with_ours() -> ModuleType:
    spec = find_spec("sklearn.tests.test_naive_bayes")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with patch.multiple(sklearn.naive_bayes, **{name: getattr(candide, name) for name in NAMES}):
        spec.loader.exec_module(module)
    return module


THEIRS = {name: test for name, test in vars(loaded_with_ours()).items() if name.startswith("test_")}
globals().update(THEIRS)


@pytest.fixture(autouse=True)
def _leave_out(request):
    for name in (request.node.name, request.node.originalname):
        if name in LEFT_OUT:
            pytest.skip(LEFT_OUT[name])


@pytest.fixture
def global_random_seed():
    return 42


@pytest.fixture(params=[np.float64])
def global_dtype(request):
    return request.param


def test_suite_is_theirs_with_our_classes():
    assert len(THEIRS) > 30
    assert {name.split("[")[0] for name in LEFT_OUT} <= {*THEIRS, "test_estimator_checks"}
    module = loaded_with_ours()
    assert all(getattr(module, name).__module__.startswith("candide.") for name in NAMES)


@parametrize_with_checks([getattr(candide, name)() for name in NAMES])
def test_estimator_checks(estimator, check):
    check(estimator)
