"""Threads that share a classifier: every call sees one state, and no change is lost."""

from __future__ import annotations

import copy
import pickle
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, load
from candide.data.errors import ForgetRefused

DROP_INS = (BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB)
CHANGES, QUESTIONS = 20, 20

FAR = {"place": [90.0, 91.0, 92.0], "kind": ["far", "far", "far"]}
"""Rows that only the last class can have had."""
PASSING = {"place": [10.0, 11.0, 12.0], "kind": ["near", "near", "near"]}
"""Rows of a class that sorts first, and comes and goes."""


@pytest.fixture(autouse=True)
def _switch_often():
    """Let threads interrupt each other as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*works):
    """Run each work in a thread of its own, all at once; the first failure of any is raised."""
    failures, start = [], threading.Barrier(len(works))

    def run(work):
        start.wait()
        try:
            work()
        except BaseException as problem:
            failures.append(problem)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def times(count, work):
    return lambda: [work() for _ in range(count)]


def model_of_two():
    rows = {
        "place": [50.0, 51.0, 52.0, 53.0, 90.0, 91.0, 92.0, 93.0],
        "kind": ["middle"] * 4 + ["far"] * 4,
    }
    families = {"place": "gaussian", "kind": "categorical"}
    return NaiveBayes(families, smoothing=0.01, calibrate=False).fit(rows, ["m"] * 4 + ["z"] * 4)


def passing_by_batches(model):
    model.partial_fit(PASSING, ["a", "a", "a"])
    model.forget(PASSING, ["a", "a", "a"])


def passing_by_rows(model):
    row = {"place": 10.0, "kind": "near"}
    model.learn_one(row, "a")
    model.forget_one(row, "a")


def says_z(answers):
    return [str(answer) for answer in answers] == ["z"] * 3


QUESTION = {
    "predict": lambda model, path: says_z(model.predict(FAR)),
    "decide": lambda model, path: says_z(model.decide(FAR, rarity=0.0)),
    "predict_proba": lambda model, path: (model.predict_proba(FAR)[:, -1] > 0.9).all(),
    "predict_proba, other priors": lambda model, path: other_priors(model),
    "predict_log_proba": lambda model, path: (model.predict_log_proba(FAR)[:, -1] > -0.1).all(),
    "predict_joint_log_proba": lambda model, path: (model.predict_joint_log_proba(FAR).argmax(axis=1) > 0).all(),
    "score_samples": lambda model, path: np.isfinite(model.score_samples(FAR)).all(),
    "explain": lambda model, path: says_z(e.classes[int(e.posterior.argmax())] for e in model.explain(FAR)),
    "evaluate": lambda model, path: model.evaluate(FAR, ["z"] * 3).accuracy == 1.0,
    "evaluate, leave-one-out": lambda model, path: model.evaluate(FAR, ["z"] * 3, leave_one_out=True).rows == 3,
    "score": lambda model, path: model.score(FAR, ["z"] * 3) == 1.0,
    "sample": lambda model, path: set(model.sample(3, label="z", seed=0)["label"].to_pylist()) == {"z"},
    "add": lambda model, path: says_z((model + model).predict(FAR)),
    "predict_one": lambda model, path: model.predict_one({"place": 90.0, "kind": "far"}) == "z",
    "predict_proba_one": lambda model, path: model.predict_proba_one({"place": 90.0, "kind": "far"})["z"] > 0.9,
    "save": lambda model, path: says_z((model.save(path), load(path))[1].predict(FAR)),
    "pickle": lambda model, path: says_z(pickle.loads(pickle.dumps(model)).predict(FAR)),
    "copy": lambda model, path: says_z(copy.copy(model).predict(FAR)),
    "deepcopy": lambda model, path: says_z(copy.deepcopy(model).predict(FAR)),
    "counts": lambda model, path: model.class_count_[-1] == 4,
    "fit like": lambda model, path: says_z(NaiveBayes().fit(FAR, ["z"] * 3, like=model).predict(FAR)),
}


def other_priors(model):
    """In a world of only z and m; while class a is there, such priors name too few classes."""
    try:
        return (model.predict_proba(FAR, priors={"m": 0.5, "z": 0.5})[:, -1] > 0.9).all()
    except ValueError as problem:
        return "nothing is said about class 'a'" in str(problem)


@pytest.mark.parametrize("question", QUESTION)
@pytest.mark.parametrize("change", [passing_by_batches, passing_by_rows])
def test_a_question_sees_one_state_while_a_class_comes_and_goes(question, change, tmp_path):
    model = model_of_two()
    ask = QUESTION[question]

    def asking():
        for index in range(QUESTIONS):
            assert ask(model, tmp_path / f"{index}.candide"), question

    together(times(CHANGES, lambda: change(model)), asking)
    assert model.summary_ == model_of_two().summary_


LEARNERS = {
    "learn_one": lambda model, label: model.learn_one({"place": 1.5, "kind": "near"}, label),
    "partial_fit": lambda model, label: model.partial_fit({"place": [1.5], "kind": ["near"]}, [label]),
    "learn and forget one": lambda model, label: passing_one(model, label),
    "learn two, forget one": lambda model, label: two_less_one(model, label),
}


def passing_one(model, label):
    model.learn_one({"place": 7.0, "kind": "gone"}, label).learn_one({"place": 1.5, "kind": "near"}, label)
    model.forget_one({"place": 7.0, "kind": "gone"}, label)


def two_less_one(model, label):
    model.partial_fit({"place": [1.5, 7.0], "kind": ["near", "gone"]}, [label, label])
    model.forget({"place": [7.0], "kind": ["gone"]}, [label])


@pytest.mark.parametrize("first", LEARNERS)
@pytest.mark.parametrize("second", LEARNERS)
def test_no_row_is_lost_whatever_learns_beside(first, second):
    model = model_of_two()
    works = [times(CHANGES, lambda: LEARNERS[first](model, "p")), times(CHANGES, lambda: LEARNERS[second](model, "q"))]
    together(*works, times(CHANGES, lambda: model.predict_one({"place": 1.5, "kind": "near"})))
    assert dict(zip(model.classes_, model.class_count_, strict=True)) == {"m": 4, "p": CHANGES, "q": CHANGES, "z": 4}
    labels = ["p"] * CHANGES + ["q"] * CHANGES
    alone = model_of_two().partial_fit({"place": [1.5] * len(labels), "kind": ["near"] * len(labels)}, labels)
    assert model.summary_ == alone.summary_


def test_a_model_may_begin_on_several_threads_at_once():
    model = NaiveBayes()
    together(*[times(CHANGES, lambda label=label: model.learn_one({"x": 1.0}, label)) for label in "abc"])
    assert model.class_count_.tolist() == [CHANGES] * 3


def test_fit_beside_learners_leaves_one_of_the_two_orders():
    model = model_of_two()
    together(
        times(5, lambda: model.fit(FAR, ["z"] * 3)),
        times(CHANGES, lambda: model.learn_one({"place": 90.0, "kind": "far"}, "z")),
    )
    assert 3 <= model.summary_.rows <= 3 + CHANGES


def test_options_set_while_rows_are_learned_stay_set():
    model = model_of_two()

    def setting():
        for index in range(CHANGES):
            model.set_params(smoothing=0.01 + index)
            assert model.smoothing == 0.01 + index

    together(times(CHANGES, lambda: passing_by_batches(model)), setting)


IN_PLACE = {"learn_one", "forget_one", "predict_one", "predict_proba_one"}
"""Methods of the stream, which has a lock of its own and takes its turns by row."""
NOTHING_LEARNED = {"of", "get_params", "set_params", "get_metadata_routing"}


@pytest.mark.parametrize("face", [NaiveBayes, *DROP_INS])
def test_every_public_method_reads_or_writes_one_state(face):
    """Whoever adds a method says which of the two it does."""
    for name in dir(face):
        if name.startswith("_") or name in IN_PLACE | NOTHING_LEARNED or name.endswith("_request"):
            continue
        found = getattr(face, name)
        method = found.fget if isinstance(found, property) else found
        if not callable(method) or method.__module__.startswith("sklearn"):
            continue  # scikit-learn's own score asks predict, once
        assert method.__code__.co_name in ("reading", "writing"), f"{face.__name__}.{name} neither reads nor writes"


COUNTS = np.array([[3, 0, 1], [2, 1, 0], [0, 3, 1], [1, 0, 2]])
LABELS = np.array(["m", "m", "z", "z"])


@pytest.mark.parametrize("drop_in", DROP_INS)
def test_no_row_of_a_drop_in_is_lost(drop_in):
    model = drop_in().fit(COUNTS, LABELS)
    work = times(CHANGES, lambda: model.partial_fit(COUNTS, LABELS).partial_fit(COUNTS, LABELS).forget(COUNTS, LABELS))
    together(work, work, times(CHANGES, lambda: (model + model).predict(COUNTS)))
    assert model.class_count_.tolist() == [2 + 4 * CHANGES] * 2


@pytest.mark.parametrize("drop_in", DROP_INS)
@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "score", "attributes"])
def test_a_drop_in_answers_from_one_state_while_it_is_fitted_anew(drop_in, method):
    """Between two and three classes, and three columns or four: z is always last and the last row is always z."""
    wide = np.array([[9, 0, 0, 0], [0, 9, 0, 0], [0, 0, 0, 9]])
    narrow = wide[1:, 1:]
    model = drop_in().fit(wide, ["a", "m", "z"])
    ours = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]

    def refitting():
        model.fit(narrow, ["m", "z"])
        model.fit(wide, ["a", "m", "z"])

    def asking():
        if method == "attributes":
            return [getattr(model, name) for name in ours]
        try:
            return answered(model, method, wide[-1:])
        except ValueError as problem:
            if "expecting 3 features" not in str(problem):
                raise

    together(times(CHANGES, refitting), times(QUESTIONS, asking))


def answered(model, method, row):
    if method == "score":
        assert model.score(row, ["z"]) == 1.0
    elif method == "predict":
        assert model.predict(row).tolist() == ["z"]
    else:
        assert getattr(model, method)(row)[0].argmax() in (1, 2)


def test_a_refused_call_changes_nothing():
    model, before = model_of_two(), model_of_two()
    for refused in (lambda: model.forget(PASSING, ["a"] * 3), lambda: model.forget_one({"place": 1.0}, "nobody")):
        with pytest.raises(ForgetRefused):
            refused()
    drop_in = GaussianNB().fit(COUNTS, LABELS)
    with pytest.raises(ValueError, match="NaN"):
        drop_in.fit([[1.0], [np.nan]], ["a", "b"])
    assert model.summary_ == before.summary_
    assert drop_in.predict(COUNTS).tolist() == LABELS.tolist()


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
@pytest.mark.parametrize("options", [{}, {"half_life": 10.0}])
def test_a_copy_goes_its_own_way(twin, options):
    model = NaiveBayes(**options).learn_one("win a prize", "spam").learn_one("see you at noon", "ham")
    before = model.predict_proba_one("a prize")
    other = twin(model)
    assert other.predict_proba_one("a prize") == before
    for _ in range(5):
        other.learn_one("a prize", "ham")
    assert model.predict_proba_one("a prize") == before
    assert other.predict_proba_one("a prize") != before
    assert not clone(other).__sklearn_is_fitted__()
