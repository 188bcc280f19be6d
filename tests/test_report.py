"""The report: one page that is whole, safe and small, and a panel that computes as the model does."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from contextlib import contextmanager
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from candide import NaiveBayes, TextOptions, report
from candide.api.verbs import fit
from candide.data.errors import CandideError, OptionRefused
from candide.show.pictures.occurrences import Occurrences
from candide.show.pictures.scales import Scales
from candide.show.pictures.subject import Subject
from candide.show.report import panel, text_box
from candide.show.report.panel import CLASSES_SHOWN, Panel
from candide.show.report.sentences import NO_CURVE, NOT_MEASURED
from commands import candide

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[1]
ORCHARD = ROOT / "examples" / "orchard.csv"
RNG = np.random.default_rng(1763)
VOID = {"meta", "link", "input", "br", "img", "path", "use", "rect"}


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and its text."""

    def __init__(self, content: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.open: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def by_id(self, name: str) -> dict[str, str | None]:
        return next(attributes for _, attributes in self.elements if attributes.get("id") == name)

    @property
    def text(self) -> str:
        return " ".join(data for tag, data in self.texts if tag not in ("script", "style"))

    def data(self) -> dict:
        return json.loads(next(data for tag, data in self.texts if tag == "script" and data.startswith("{")))


@pytest.fixture(scope="module")
def orchard():
    return fit(ORCHARD, "fruit")


@pytest.fixture(scope="module")
def drawing(orchard, tmp_path_factory):
    """The page of the orchard, and what was told while it was drawn."""
    path, told = tmp_path_factory.mktemp("report") / "orchard.html", []

    @contextmanager
    def watch(work, size):
        told.append((work, size.amount, size.unit))
        yield told.append

    report(orchard, path, watch=watch)
    return path.read_text(encoding="utf-8"), told


@pytest.fixture(scope="module")
def page(drawing) -> str:
    return drawing[0]


SECTIONS = ["summary", "telling", "features", "nomogram", "what-if", "reliability", "confusion", "ranking", "learning",
            "choices", "origin"]  # fmt: skip


def test_the_page_is_whole(page):
    found = Page(page)
    assert not found.open
    assert [attributes["id"] for attributes in found.all("section")] == SECTIONS
    assert [attributes["href"] for attributes in found.all("a")] == [f"#{name}" for name in SECTIONS]
    ids = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert found.all("html")[0]["lang"] == "en"
    assert "In short" in found.text
    for name in ("telling", "nomogram", "reliability", "confusion", "learning-curve"):
        assert found.by_id(f"picture-{name}")["class"].startswith("picture")
    assert found.by_id("feature-7")
    for words in ("600", "weight_g", "of 600 rows are answered rightly", "counts", "orchard.csv"):
        assert words in found.text


def test_every_picture_has_words_for_those_who_cannot_see_it(page):
    found = Page(page)
    images = [attributes for _, attributes in found.elements if attributes.get("role") == "img"]
    assert len(images) == len(found.all("svg")) == 7 + 7
    assert all(len(attributes["aria-label"]) > 30 for attributes in images)
    named = {attributes["for"] for attributes in found.all("label") if "for" in attributes}
    controls = [attributes for tag in ("input", "select") for attributes in found.all(tag)]
    assert controls
    assert {attributes["id"] for attributes in controls} == named


def test_the_page_needs_nothing_from_elsewhere(page):
    found = Page(page)
    for tag, attributes in found.elements:
        assert tag not in ("img", "iframe", "object", "embed", "video", "audio", "base", "form")
        for name, value in attributes.items():
            assert not name.startswith("on")
            if not name.startswith("xmlns"):
                assert "://" not in (value or ""), (tag, name)
            if name in ("src", "href", "xlink:href", "srcset"):
                assert value.startswith(("#", "data:,"))
    for tag, text in found.texts:
        if tag in ("style", "script"):
            assert "://" not in text
            assert "@import" not in text
            assert "url(" not in text


def test_only_the_script_of_the_page_may_run(page):
    found = Page(page)
    policy = next(a["content"] for a in found.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    folder = files("candide.show.report")
    script = "".join(folder.joinpath(name).read_text(encoding="utf-8") for name in ("text_terms.js", "panel.js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert f"<script>{script}</script>" in page


def test_the_same_model_gives_the_same_page(orchard, page, tmp_path):
    report(orchard, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert len(page.encode()) < 1_000_000


def test_a_model_that_was_not_measured_says_how_to_measure_it(tmp_path):
    plain = fit(ORCHARD, "fruit", families="guess", calibrate=False, columns=["weight_g", "colour"])
    report(plain, tmp_path / "plain.html")
    found = Page((tmp_path / "plain.html").read_text(encoding="utf-8"))
    assert found.text.count(NOT_MEASURED) == 4
    assert NO_CURVE in found.text
    assert not any("picture-reliability" in str(attributes) for _, attributes in found.elements)
    report(plain, tmp_path / "tested.html", ORCHARD)
    tested = Page((tmp_path / "tested.html").read_text(encoding="utf-8"))
    assert NOT_MEASURED not in tested.text
    assert "(the rows given for this report)" in tested.text
    assert "These are the rows that the model has learned" in tested.text
    assert "(rows given)" in tested.text
    assert tested.by_id("picture-roc")
    assert tested.by_id("picture-precision-recall")
    assert tested.by_id("picture-confusion")


def answer(data: dict, known: list) -> np.ndarray:
    """What the script of the page computes, by other means."""
    scores, start = np.array(data["start"], dtype=np.float64), np.array(data["start"], dtype=np.float64)
    for feature, value in zip(data["features"], known, strict=True):
        if value is None:
            continue
        feature = feature["readings"][0] if "readings" in feature else feature
        table = np.array(feature["table"], dtype=np.float64)
        if isinstance(value, list):
            rule = feature["rule"]
            table = table + np.array(rule["rate"]) if rule.get("rate") else table
            way = Occurrences(rule["weighting"], rule["weight"], rule["power"], np.array(rule["constant"]))
            scores += way.score(np.array(value, dtype=np.float64), table)
        else:
            scores += table[value]
    for pair in data["pairs"]:
        places = [known[feature] for feature in pair["features"]]
        if None not in places:
            codes = [bins[place] for bins, place in zip(pair["bins"], places, strict=True)]
            shape = (*pair["widths"], len(scores))
            scores += np.reshape(pair["table"], shape)[tuple(codes)] if min(codes) >= 0 else 0.0
    scores += products_say(data, known)
    said = scores - start
    if np.ptp(said) > 1e-12:  # something is known
        scores += np.array(data["bias"])
    shares = np.exp(scores - scores.max())
    return shares / shares.sum()


def products_say(data: dict, known: list) -> np.ndarray:
    """What a linear layer adds: features of what is set, and products of two."""
    layer = data["products"]
    if layer is None:
        return np.zeros(len(data["classes"]))
    sides = zip(layer["features"], layer["points"], strict=True)
    parts = [np.zeros(len(points[0])) if known[at] is None else np.array(points[known[at]]) for at, points in sides]
    features = np.concatenate(parts)
    share = float(features @ features) / layer["columns"]
    one, other = np.triu_indices(len(features))
    terms = np.concatenate([features, features[one] * features[other]])
    return terms @ np.array(layer["weights"]) / max(1.0, 0.2 * share + 0.8 * share**2) ** 0.5


def panel_of(model: NaiveBayes) -> dict:
    return json.loads(Panel.of(Subject.of(model.predictor_, model.trained_.label)).to_json())


def number(label: str) -> float:
    return float(label.replace("−", "-").replace(",", ""))


def table_of_everything(rows: int = 300) -> dict[str, list]:
    y = np.arange(rows) % 3
    return {
        "height": (RNG.integers(-50, 50, rows) * (1 + y) / 4 + y).tolist(),
        "waiting": (RNG.integers(1, 40, rows) * (1.0 + y)).tolist(),
        "visits": RNG.poisson(2 + 3 * y).tolist(),
        "colour": RNG.choice(["red", "green", "blue", "grey"], rows).tolist(),
        "paid": (RNG.random(rows) < 0.2 + 0.3 * y).tolist(),
        "y": [f"class {label}" for label in y],
    }


FAMILIES = {
    "height": "gaussian", "waiting": "lognormal", "visits": "poisson", "colour": "categorical", "paid": "bernoulli",
}  # fmt: skip


@pytest.mark.parametrize("calibrate", [True, False])
def test_the_panel_computes_as_the_model_does(calibrate):
    """Values of numbers are shown with six digits, so those of the profile are looked up."""
    model = NaiveBayes(families=FAMILIES, calibrate=calibrate).fit(table_of_everything(), "y")
    subject, data = Subject.of(model.predictor_, "y"), panel_of(model)
    assert [feature["name"] for feature in data["features"]] == [profile.column for profile in subject.ranked]
    nothing = model.predict_proba({name: [None] for name in FAMILIES})[0]
    assert answer(data, [None] * 5) == pytest.approx(nothing, abs=1e-9)
    for _ in range(30):
        known, row = [], {}
        for feature in data["features"]:
            index = int(RNG.integers(len(feature["labels"]))) if RNG.random() < 0.8 else None
            known.append(index)
            row[feature["name"]] = [None if index is None else value_of(subject, feature, index)]
        assert answer(data, known) == pytest.approx(model.predict_proba(row)[0], abs=1e-9)


def test_the_panel_and_the_nomogram_let_pairs_of_columns_speak():
    """What two columns say together comes on top of what each says; what is not known says nothing."""
    rng = np.random.default_rng(0)
    rows = {"class": rng.choice(["first", "third"], 300).tolist(), "female": (rng.random(300) < 0.5).tolist()}
    labels = [int((one == "third") != other) for one, other in zip(rows["class"], rows["female"], strict=True)]
    model = NaiveBayes().fit(rows, labels)
    assert [pair.columns for pair in model.schema_.pairs] == [("class", "female")]
    subject, data = Subject.of(model.predictor_, "y"), panel_of(model)
    scales = Scales.of(subject)
    (together,) = [scale for scale in scales.scales if scale.name == "class and female"]
    shown = [feature["labels"] for feature in data["features"]]
    for known in product(*([None, *range(len(labels))] for labels in shown)):
        values = {
            feature["name"]: None if place is None else feature["labels"][place]
            for feature, place in zip(data["features"], known, strict=True)
        }
        female = {None: None, "yes": True, "no": False}[values["female"]]
        chances = model.predict_proba({"class": [values["class"]], "female": [female]})[0]
        assert answer(data, [*known]) == pytest.approx(chances, abs=1e-9)
        if None not in values.values():
            total = together.points[together.labels.index(f"{values['class']} and {female}")]
            total += sum(s.points[s.labels.index(values[s.name])] for s in scales.scales if s.name in values)
            assert float(scales.log_odds(total)) == pytest.approx(np.log(chances[1] / chances[0]), abs=1e-9)


def rows_that_count(rows: int = 300) -> dict[str, list]:
    """Whether exactly two of five answers are yes, beside a number that tells nothing."""
    rng = np.random.default_rng(7)
    answers = rng.random((rows, 5)) < 0.4
    told = (answers.sum(axis=1) == 2) == (rng.random(rows) < 0.95)
    columns = {f"answer {index}": np.where(answers[:, index], "right", "wrong").tolist() for index in range(5)}
    return {**columns, "size": rng.normal(0, 1, rows).tolist(), "y": np.where(told, "two", "other").tolist()}


def test_the_panel_lets_a_linear_layer_speak():
    """Of numbers by the points of their sliders, of what is not known nothing."""
    model = NaiveBayes().fit(rows_that_count(), "y")
    assert model.trained_.tuning.layer is not None
    subject, data = Subject.of(model.predictor_, "y"), panel_of(model)
    names = [feature["name"] for feature in data["features"]]
    for _ in range(20):
        known = [int(RNG.integers(len(f["labels"]))) if RNG.random() < 0.8 else None for f in data["features"]]
        parts = zip(data["features"], known, strict=True)
        values = [None if at is None else value_of(subject, feature, at) for feature, at in parts]
        row = {name: [value] for name, value in zip(names, values, strict=True)}
        assert answer(data, known) == pytest.approx(model.predict_proba(row)[0], abs=1e-6)


def value_of(subject: Subject, feature: dict, index: int):
    label = feature["labels"][index]
    if feature["kind"] == "number":
        indices = np.asarray(subject.profile(feature["name"]).points)
        return float(indices[np.argmin(np.abs(indices - number(label)))])
    return {"yes": True, "no": False}[label] if feature["name"] == "paid" else label


RECIPES = [
    TextOptions(), TextOptions(weighting="log"), TextOptions(weighting="unit"), TextOptions(weighting="presence"),
    TextOptions(weighting="presence", model="bernoulli"), TextOptions(model="poisson"), TextOptions(model="complement"),
    TextOptions(idf=True, weighting="log", model="complement"), TextOptions(words="sklearn"),
]  # fmt: skip


def mails(rows: int = 120) -> dict[str, list]:
    said = {"spam": "win a prize now money claim", "ham": "see you at lunch today", "work": "meet at noon today now"}
    labels = [list(said)[index % 3] for index in range(rows)]
    return {"mail": [" ".join(RNG.choice(said[label].split(), RNG.integers(2, 9))) for label in labels], "y": labels}


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: f"{recipe.weighting}-{recipe.model}")
def test_the_panel_counts_words_as_the_model_does(recipe, calibrate):
    model = NaiveBayes({"mail": "text"}, text=recipe, calibrate=calibrate).fit(mails(), "y")
    data = panel_of(model)
    (feature,) = data["features"]
    known = feature["readings"][0]["terms"] if feature["kind"] == "text" else feature["labels"]
    for _ in range(20):
        times = RNG.integers(0, 4, len(known)) * (RNG.random(len(known)) < 0.5)
        words = [word for word, count in zip(known, times.tolist(), strict=True) for _ in range(count)]
        text = " ".join(words) if words else None
        assert answer(data, [times.tolist()]) == pytest.approx(model.predict_proba({"mail": [text]})[0], abs=1e-5)


def test_what_the_page_has_no_room_for_is_told(monkeypatch, tmp_path):
    model = NaiveBayes({"mail": "text"}, text=TextOptions(), calibrate=False).fit(mails(), "y")
    model.report(tmp_path / "all.html")
    assert "all 13 words and runs the model knows" in Page((tmp_path / "all.html").read_text(encoding="utf-8")).text
    monkeypatch.setattr(text_box, "FEWEST", 5)
    monkeypatch.setattr(panel, "ROOM", 0)
    model.report(tmp_path / "some.html")
    found = Page((tmp_path / "some.html").read_text(encoding="utf-8"))
    (feature,) = found.data()["features"]
    assert len(feature["readings"][0]["terms"]) == 5
    assert re.search(r"the 5 strongest of 13 words and runs are on this page\. The others had \d+\.\d% of", found.text)


def test_columns_that_speak_together_stay_out_of_the_panel(tmp_path):
    rows = {name: RNG.normal(size=90).tolist() for name in "abc"} | {"y": ["no", "yes", "no"] * 30}
    model = NaiveBayes({"a": "gaussian_full", "b": "gaussian_full", "c": "gaussian"}).fit(rows, "y")
    assert [feature["name"] for feature in panel_of(model)["features"]] == ["c"]
    model.report(tmp_path / "joined.html")
    found = Page((tmp_path / "joined.html").read_text(encoding="utf-8"))
    assert "Two columns speak together" in found.text
    assert found.by_id("feature-3")


HOSTILE = [
    "<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "<!-- <script>", "$x$ $", "\\n{0}%s", "😀",
    "果物", "שלום", "nul\x00l\x1b[31m", "w" * 500, "]]>", "&lt;", "'\" onload='x", "\ud800",
]  # fmt: skip


def test_whatever_the_data_says_stays_text(tmp_path):
    rows = 8 * len(HOSTILE)
    values = [HOSTILE[index % len(HOSTILE)] for index in range(rows)]
    table = {
        "<b>bold</b>": values,
        "</script>": [f"{value} {index % 3}" for index, value in enumerate(values)],
        "n<u>m": RNG.normal(size=rows).tolist(),
        "y": [HOSTILE[(index // 2) % 3] for index in range(rows)],
    }
    families = {"<b>bold</b>": "categorical", "</script>": "text", "n<u>m": "gaussian"}
    model = NaiveBayes(families).fit({name: [clean(v) for v in column] for name, column in table.items()}, "y")
    model.report(tmp_path / "hostile.html")
    content = (tmp_path / "hostile.html").read_text(encoding="utf-8")
    found = Page(content)
    assert not found.open
    assert len(found.all("script")) == 2
    assert not found.all("img")
    assert not found.all("b")
    assert not found.all("u")
    assert "\x00" not in content
    assert "\x1b" not in content
    assert found.data()["classes"] == sorted(HOSTILE[:3])
    for value in HOSTILE[:3]:
        assert value in found.text
    assert "<b>bold</b>" in found.text
    assert {attributes["id"] for attributes in found.all("section")} == set(SECTIONS)


def clean(value):
    """Lone surrogates cannot be in a column of text at all."""
    return value.replace("\ud800", "surrogate") if isinstance(value, str) else value


def test_many_words_and_many_classes_stay_small(tmp_path):
    words = [f"word{index}" for index in range(20_000)]
    texts = [" ".join(words[index : index + 20]) + f" topic{index // 20 % 40}" for index in range(0, 20_000, 20)]
    labels = [f"class {index % 40}" for index in range(len(texts))]
    model = fit({"text": texts, "y": labels}, "y", calibrate=False)
    written = report(model, tmp_path / "words.html")
    assert written.size == (tmp_path / "words.html").stat().st_size < 600_000
    found = Page((tmp_path / "words.html").read_text(encoding="utf-8"))
    lines = [attributes for attributes in found.all("li") if "data-class" in attributes]
    assert len(lines) == 40
    assert sum("hidden" not in attributes for attributes in lines) == CLASSES_SHOWN
    assert "the 6 commonest of 40 classes" in found.text


def test_many_columns_are_drawn_or_told(tmp_path):
    rows = {f"column {index}": RNG.integers(3, size=60).tolist() for index in range(60)} | {"y": ["no", "yes"] * 30}
    model = NaiveBayes("categorical", calibrate=False).fit(rows, "y")
    model.report(tmp_path / "wide.html")
    found = Page((tmp_path / "wide.html").read_text(encoding="utf-8"))
    assert len(found.all("figure")) == 24 + 2
    assert "36 less telling features in words" in found.text
    assert "20 less telling features cannot be set here" in found.text
    for index in range(60):
        assert f"column {index}" in found.text


def test_a_model_of_one_class_has_a_page_too(tmp_path):
    with pytest.warns(UserWarning, match="only one class"):
        model = NaiveBayes().fit({"x": [1.0, 2.5, 3.0], "y": ["yes"] * 3}, "y")
    model.report(tmp_path / "one.html")
    found = Page((tmp_path / "one.html").read_text(encoding="utf-8"))
    assert "There is only one class" in found.text


def test_the_command_writes_a_page_or_a_picture(orchard, tmp_path):
    orchard.save(tmp_path / "fruit.candide")
    made = candide("report", "fruit.candide", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    assert re.fullmatch(r"Written to fruit.html \(\d+ kB\)\n", made.stdout)
    assert Page((tmp_path / "fruit.html").read_text(encoding="utf-8")).by_id("what-if")
    asked = ["--picture", "feature", "--column", "colour", "-o", "colour.png", "--format", "json"]
    made = candide("report", "fruit.candide", *asked, folder=tmp_path)
    assert json.loads(made.stdout)["output"] == "colour.png"
    assert (tmp_path / "colour.png").read_bytes()[:4] == b"\x89PNG"
    asked = ["--picture", "nomogram", "--of", "plum", "--against", "pear"]
    made = candide("report", "fruit.candide", *asked, folder=tmp_path)
    assert "plum rather than pear" in (tmp_path / "fruit-nomogram.svg").read_text(encoding="utf-8")


def test_the_command_refuses_before_the_work(orchard, tmp_path):
    orchard.save(tmp_path / "fruit.candide")
    (tmp_path / "kept.html").write_text("<!doctype html>as it was")
    for words, said in [
        (["--picture", "nomogramme"], "Did you mean 'nomogram'?"),
        (["--picture", "feature"], "--column"),
        (["--column", "colour"], "--picture feature"),
        (["-o", "page.pdf"], "should end in .html"),
        (["--picture", "telling", "-o", "telling.pdf"], "'svg', 'png'"),
        (["--of", "bear", "-o", "kept.html"], "Did you mean 'pear'?"),
        (["nowhere.csv", "-o", "kept.html"], "nowhere.csv"),
    ]:
        made = candide("report", "fruit.candide", *words, folder=tmp_path)
        assert made.returncode == 2, (words, made.stdout, made.stderr)
        assert said in made.stderr
        assert "Traceback" not in made.stderr
    assert (tmp_path / "kept.html").read_text() == "<!doctype html>as it was"
    assert candide("report", "fruit.candide", "-o", "no/where.html", folder=tmp_path).returncode == 1


def test_what_cannot_be_reported_is_said_in_python_too(orchard, tmp_path):
    with pytest.raises(OptionRefused, match=r"should end in \.html"):
        report(orchard, tmp_path / "page.txt")
    with pytest.raises(OptionRefused, match="A model is the path"):
        report(3, tmp_path / "page.html")
    with pytest.raises(CandideError, match="folder does not exist"):
        report(orchard, tmp_path / "no" / "page.html")


def test_long_work_is_watched(drawing):
    _, (first, *amounts) = drawing
    assert first == ("Drawing", 13, "pictures")
    assert sum(amounts) == 13
