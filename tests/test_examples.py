"""The examples run, and what they show is so."""

import re
import runpy
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, TextOptions
from candide.api import verbs
from candide.data.errors import OptionRefused

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def digits():
    return runpy.run_path(str(EXAMPLES / "digits.py"))


def test_digits_are_read_and_drawn(digits, tmp_path, capsys):
    digits["main"](str(tmp_path / "digits.png"), images=300)
    said = capsys.readouterr().out
    right, plain, apart, together = (float(share) / 100 for share in re.findall(r"([\d.]+)%", said))
    assert "200 learned, 100 kept back" in said
    assert min(right, plain, apart, together) > 0.75
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")


def test_drawn_pixels_hang_together_only_with_a_covariance(digits):
    """Neighbours in a stroke are dark together, in real images and in those of one bell."""
    pixels, labels = digits["load_digits"](return_X_y=True)
    options = {"smoothing": "default", "calibrate": False}

    def correlation(images):
        within = np.array(images, dtype=float) - np.mean(images, axis=1, keepdims=True)
        above, below = within.reshape(-1, 8, 8)[:, 2:5], within.reshape(-1, 8, 8)[:, 3:6]
        return np.corrcoef(above.ravel(), below.ravel())[0, 1]

    drawn = {
        family: correlation(digits["drawn"](NaiveBayes(family, **options).fit(pixels, labels), 100))
        for family in ("gaussian", "gaussian_full")
    }
    genuine = correlation([pixels[labels == digit][:100] for digit in range(10)])
    assert abs(drawn["gaussian"]) < 0.05
    assert drawn["gaussian_full"] == pytest.approx(genuine, abs=0.1)
    assert genuine > 0.2


def test_the_lecture_runs_and_says_what_came_out(capsys):
    runpy.run_path(str(EXAMPLES / "lecture.py"), run_name="__main__")
    said = capsys.readouterr().out
    for words in ("answer: No, 0.6390", "Normal 0.8715", "P(survived) = 0.5334", "== monday          True"):
        assert words in said


@pytest.fixture(scope="module")
def spam(tmp_path_factory):
    """A model file of the messages, which are read as words, pairs of words and runs of letters."""
    path = tmp_path_factory.mktemp("models") / "spam.candide"
    return path, verbs.fit(EXAMPLES / "messages.jsonl", "label", path)


def test_messages_are_drawn_from_words(spam):
    path, _ = spam
    drawn = verbs.sample(path, 20, "spam", seed=3)
    assert drawn.column_names == ["text", "label"]
    assert set(drawn["label"].to_pylist()) == {"spam"}
    known = set(re.findall(r"\w+", (EXAMPLES / "messages.jsonl").read_text().lower()))
    assert all(word in known for text in drawn["text"].to_pylist() for word in text.split())
    words = Counter(word for text in drawn["text"].to_pylist() for word in text.split())
    assert words["free"] > 5 * words["meeting"]


def test_a_seed_draws_the_same_rows_and_another_seed_others(spam):
    path, fitted = spam
    assert verbs.sample(path, 9, seed=1) == verbs.sample(fitted, 9, seed=1)
    assert verbs.sample(path, 9, seed=1) != verbs.sample(path, 9, seed=2)


def test_drawn_messages_are_taken_for_what_they_were_drawn_for(spam):
    _, fitted = spam
    drawn = verbs.sample(fitted, 40, seed=5)
    answers = NaiveBayes.of(fitted.trained).predict(drawn["text"].to_pylist())
    assert np.mean(answers == drawn["label"].to_pylist()) > 0.9


def test_hashed_words_cannot_be_drawn():
    model = NaiveBayes(text=TextOptions(hashed=8)).fit(["win a prize", "see you at noon"], ["spam", "ham"])
    with pytest.raises(OptionRefused, match="Learn it without hashed"):
        model.sample(1)
