"""The pages Candide writes, opened in a real browser: quiet, readable and safe; light and dark, wide and on a phone."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import browser
from candide import NaiveBayes, TextOptions, load
from candide.api import verbs
from candide.data.written_numbers import percent
from candide.show.report.text_box import alphabet_for, recipe_for_page, spelled_term
from commands import candide

ROOT = Path(__file__).parents[1]
ORCHARD = ROOT / "examples" / "orchard.csv"
MESSAGES = [json.loads(line) for line in (ROOT / "examples" / "messages.jsonl").read_text().splitlines()]
LOOKS = (("light", 1280), ("dark", 390))
"""Colours follow the scheme and places the width, so that two looks see all of both."""

PICTURE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>window.hacked=1</script>"
DRAWING = '"><svg onload=window.hacked=1>'
STYLE = "</style><script>window.hacked=1</script>"
TITLE = "</title></table><iframe srcdoc='<script>parent.hacked=1</script>'>"
ADDRESS = "javascript:window.hacked=1"
QUOTES = "' onmouseover='window.hacked=1' x=\""
HOSTILE = (PICTURE, SCRIPT, DRAWING, STYLE, TITLE, ADDRESS, QUOTES)
LONG = "Donaudampfschifffahrt" * 24
TURNED, CONTROLLED = "pay\u202etxt.exe", "bell\x07\x1b[31m\x85\u2028"


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def orchard(tmp_path_factory):
    """A model of the orchard in a file."""
    path = tmp_path_factory.mktemp("orchard") / "orchard.candide"
    verbs.fit(ORCHARD, label="fruit", output=path)
    return path


@pytest.fixture(scope="module")
def spam_filter():
    return NaiveBayes().fit([one["text"] for one in MESSAGES], [one["label"] for one in MESSAGES])


@pytest.fixture(scope="module")
def hostile():
    """A model whose columns, values, words and classes are all out for harm."""
    return NaiveBayes(families={"mail": "text"}, calibrate=False).fit(*hostile_rows())


def hostile_rows():
    mails = [f"{LONG} hello {PICTURE} {TURNED}", f"good {LONG}s day {SCRIPT} {CONTROLLED}", f"{STYLE} 漢字 مرحبا"]
    columns = {
        "mail": mails * 8,
        PICTURE: [SCRIPT, DRAWING, STYLE] * 8,
        SCRIPT: [ADDRESS, "b", QUOTES] * 8,
        f"{QUOTES} {TURNED}": [1.5, 2.5, 4.0, 1.0, 2.0, 3.0] * 4,
        LONG: [CONTROLLED, TITLE, LONG] * 8,
    }
    return columns, [DRAWING, f"{STYLE}{LONG}", TITLE] * 8


def hostile_question():
    columns, _ = hostile_rows()
    return {name: values[:1] for name, values in columns.items()} | {TITLE: [1], f"{ADDRESS}{LONG}": [None]}


def typed(*words, folder):
    """Run the command line as a user does."""
    done = candide(*words, folder=folder)
    assert done.returncode == 0, done.stderr


NOTEBOOK = """<!doctype html><html lang="en" style="color-scheme:{scheme}">
<meta charset="utf-8"><title>A notebook</title>
<style>body{{background:{page};color:{ink};font:16px/1 serif;margin:0}}
.output{{padding:8px;text-align:right}} .output *{{color:{ink}}}
.output table{{table-layout:auto;margin-left:auto;font-size:9px;border:1px solid}}
.output tbody td,.output tbody th{{text-align:right;white-space:nowrap;max-width:40px;background:{page};color:{ink}}}
.output tbody tr:nth-child(odd){{background:{page}}} .output tbody tr:hover{{background:yellow}}
.output mark{{background:yellow;color:black}} h2{{color:{ink};background:{page}}}</style>
<body data-jp-theme-light="{light}"><div class="output">{cards}</div></body></html>"""


def notebook(cards, theme, declared):
    """A host page with a style of its own that reaches into what it shows, whatever the reader's system prefers."""
    page, ink = ("#ffffff", "#222222") if theme == "light" else ("#111111", "#dddddd")
    scheme = theme if declared else "normal"
    light = "" if declared else str(theme == "light").lower()
    return NOTEBOOK.format(page=page, ink=ink, scheme=scheme, light=light, cards="\n".join(cards))


@pytest.fixture(scope="module")
def digit():
    """A handwritten digit, explained."""
    images, labels = load_digits(return_X_y=True)
    return NaiveBayes(families="gaussian").fit(images[:600], labels[:600]).explain(images[700:701])[0]


@pytest.fixture(scope="module")
def pages(tmp_path_factory, orchard, spam_filter, hostile, digit):
    """Every page by name."""
    folder = tmp_path_factory.mktemp("pages")
    texts = [f"{MESSAGES[0]['text']}. See you at lunch tomorrow, zebra?", ""]
    letters = NaiveBayes(text=TextOptions(characters=True, ngrams=3), calibrate=False).fit(
        ["the cat sat", "le chat dort", "a good day", "une bonne journée"], ["English", "French"] * 2
    )
    lecture = NaiveBayes(calibrate=False).fit(["Love Happy Joy", "Pain Joy", "Love Love"], ["Yes", "No", "Yes"])
    whys = spam_filter.explain(texts) + hostile.explain(hostile_question())
    written = {
        "text": whys[0].to_html(),
        "no_text": whys[1].to_html(),
        "hostile": whys[2].to_html(),
        "ten_classes": digit.to_html(),
        "letters": letters.explain(["le chat est bon"])[0].to_html(),
        "lecture": lecture.explain(["Love Joy Pain"])[0].to_html(),
    }
    cards = [why._repr_html_() for why in whys]
    for theme, declared in itertools.product(("light", "dark"), (True, False)):
        written[f"notebook_{theme}{'' if declared else '_undeclared'}"] = notebook(cards, theme, declared)
    for name, document in written.items():
        (folder / f"{name}.html").write_text(document, encoding="utf-8")
    typed("explain", orchard, ORCHARD, "-r", 1, "-r", 2, "-r", 12, "--format", "html", "-o", "rows.html", folder=folder)
    return folder


PAGES = (
    "text",
    "no_text",
    "hostile",
    "ten_classes",
    "letters",
    "lecture",
    "notebook_light",
    "notebook_dark",
    "notebook_light_undeclared",
    "notebook_dark_undeclared",
    "rows",
)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_readable_and_fits(chromium, pages, name):
    with browser.visiting(chromium, pages / f"{name}.html") as visit:
        for look in LOOKS:
            visit.look(*look)
            visit.assert_fits()
            visit.assert_readable()
        visit.assert_quiet()


@pytest.mark.parametrize("name", ["hostile", "notebook_light", "notebook_dark"])
def test_hostile_strings_are_shown_and_never_run(chromium, pages, name):
    with browser.visiting(chromium, pages / f"{name}.html") as visit:
        for text in (*HOSTILE, LONG):
            assert text in visit.text
        assert "pay\ufffdtxt.exe" in visit.text
        assert "bell\ufffd\ufffd[31m" in visit.text
        visit.touch_everything()
        assert visit.page.query_selector_all("script, img, svg, iframe, a, object") == []
        visit.assert_quiet()


def test_a_card_in_a_notebook_looks_as_it_does_alone(chromium, pages):
    """Sizes and colours are the card's own, whatever the notebook says of tables."""
    looks = """cells => cells.slice(0, 40).map(cell => getComputedStyle(cell))
      .map(style => [style.color, style.fontSize, style.textAlign, style.whiteSpace])"""
    found = []
    for name in ("text", "notebook_light"):
        with browser.visiting(chromium, pages / f"{name}.html") as visit:
            found.append(visit.page.eval_on_selector_all(".candide-why >> nth=0 >> td, h2, p, mark", looks))
    assert found[0] == found[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("declared", ["", "_undeclared"])
def test_a_card_follows_its_notebook_and_not_the_system(chromium, pages, theme, declared):
    other = "dark" if theme == "light" else "light"
    with browser.visiting(chromium, pages / f"notebook_{theme}{declared}.html", other) as visit:
        paper = visit.page.eval_on_selector(".candide-why", "e => getComputedStyle(e).backgroundColor")
        assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 26, 34)"}[theme]


# What is shown is what was explained.

EVIDENCE = """card => [...card.querySelectorAll('tr.from, tr.sum')].map(row => ({
  name: row.cells[0].innerText, lead: row.cells[1].innerText,
  against: row.querySelector('.con b')?.getBoundingClientRect().width ?? 0,
  pro: row.querySelector('.pro b')?.getBoundingClientRect().width ?? 0,
  half: row.querySelector('.pro')?.getBoundingClientRect().width ?? 0,
}))"""


def evidence_of(card):
    """What a card shows: the log odds of each row by its name, as numbers, in order."""
    return {row["name"]: row | {"lead": float(row["lead"])} for row in card.evaluate(EVIDENCE)}


def leads_of(plain):
    """The same from plain data: prior, calibration, features and the sum for the answer against the runner-up."""
    first, second = np.argsort(-np.array(plain["posterior"]), kind="stable")[:2]
    lead = {"prior": plain["reported_prior"][first] - plain["reported_prior"][second]}
    if any(plain["bias"]):
        lead["calibration"] = plain["bias"][first] - plain["bias"][second]
    for term in plain["terms"]:
        said = np.array(term["log_likelihood"]) * term["factor"]
        lead[f"{term['feature']} = {term['value']}"] = said[first] - said[second]
    return lead | {"sum": plain["reported"][first] - plain["reported"][second]}


@pytest.mark.parametrize("width", [1280, 390])
def test_the_numbers_shown_are_those_of_the_explanation(chromium, pages, orchard, width):
    found = verbs.explain(orchard, ORCHARD, (1, 2, 12))
    with browser.visiting(chromium, pages / "rows.html", width=width) as visit:
        cards = visit.page.query_selector_all(".candide-why")
        for card, one in zip(cards, found, strict=True):
            shown, plain = evidence_of(card), one.explanation.to_dict()
            expected = leads_of(plain)
            assert {name: row["lead"] for name, row in shown.items()} == pytest.approx(expected, abs=0.0005 + 1e-9)
            assert sum(row["lead"] for row in shown.values()) == pytest.approx(2 * expected["sum"], abs=0.01)
            assert f"fruit is {plain['answer']} (" in card.query_selector("h2").inner_text()


def test_bars_are_as_long_as_the_numbers_say(chromium, pages):
    with browser.visiting(chromium, pages / "rows.html") as visit:
        for card in visit.page.query_selector_all(".candide-why"):
            shown = evidence_of(card)
            total = shown.pop("sum")
            assert total["against"] == total["pro"] == 0
            largest = max(3.0, *(abs(row["lead"]) for row in shown.values()))
            for row in shown.values():
                length = row["half"] * abs(row["lead"]) / largest
                sides = (row["against"], row["pro"]) if row["lead"] >= 0 else (row["pro"], row["against"])
                assert sides == pytest.approx((0, length), abs=1)


def test_the_probabilities_of_all_classes_are_shown(chromium, pages, digit):
    with browser.visiting(chromium, pages / "ten_classes.html") as visit:
        best, second = (f"{digit.classes[label]} ({digit.posterior[label]:.1%})" for label in digit.ranked[:2])
        assert visit.page.inner_text("h2").replace(">99.9%", f"{digit.posterior.max():.1%}").startswith(best)
        assert f"rather than {second.split(' ')[0]} (" in visit.page.inner_text("h2")
        assert "3 more (" in visit.page.inner_text("p.soft")


def test_words_that_spoke_are_coloured_by_their_side(chromium, pages, spam_filter):
    with browser.visiting(chromium, pages / "text.html") as visit:
        assert visit.page.inner_text("p.text") == f"{MESSAGES[0]['text']}. See you at lunch tomorrow, zebra?"
        sides = {mark.inner_text(): mark.get_attribute("class") for mark in visit.page.query_selector_all("mark")}
        assert {sides["claim"], sides["free"], sides["prize"]} == {"pro"}
        assert {sides["See"], sides["lunch"]} == {"con"}
        assert "zebra" not in sides
        assert "Never seen: text zebra" in visit.text


def test_runs_of_letters_colour_the_words_they_are_in(chromium, pages):
    with browser.visiting(chromium, pages / "letters.html") as visit:
        sides = {mark.inner_text(): mark.get_attribute("class") for mark in visit.page.query_selector_all("mark")}
        assert sides["le"] == sides["bon"] == "pro"
        assert "␣" in visit.text


# The report.


@pytest.fixture(scope="module")
def word_counter():
    """A spam filter that reads single words only, so that a text is what its words say."""
    texts, labels = [one["text"] for one in MESSAGES], [one["label"] for one in MESSAGES]
    return NaiveBayes(text=TextOptions(ngrams=1, model="multinomial", weighting="counts")).fit(texts, labels)


@pytest.fixture(scope="module")
def counter():
    """Rows of which exactly two answers are yes: what a linear layer hears."""
    rng = np.random.default_rng(7)
    answers = rng.random((300, 5)) < 0.4
    columns = {f"answer {index}": np.where(answers[:, index], "right", "wrong").tolist() for index in range(5)}
    size = rng.normal(0, 1, 300).round(2).tolist()
    return NaiveBayes().fit({**columns, "size": size, "y": (answers.sum(axis=1) == 2).tolist()}, "y")


@pytest.fixture(scope="module")
def reports(tmp_path_factory, orchard, word_counter, hostile, counter):
    """Every report by name: of a table, of texts, and of what is out for harm."""
    folder = tmp_path_factory.mktemp("reports")
    typed("report", orchard, "-o", "table.html", folder=folder)
    verbs.report(word_counter, folder / "texts.html")
    verbs.report(hostile, folder / "hostile.html")
    verbs.report(counter, folder / "counted.html")
    return folder


REPORTS = ("table", "texts", "hostile")


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_quiet_readable_and_fits(chromium, reports, name):
    with browser.visiting(chromium, reports / f"{name}.html") as visit:
        for look in LOOKS:
            visit.look(*look)
            visit.assert_fits()
            visit.assert_readable()
        visit.assert_quiet()


def test_hostile_strings_in_a_report_are_shown_and_never_run(chromium, reports):
    with browser.visiting(chromium, reports / "hostile.html") as visit:
        for text in (PICTURE, SCRIPT, DRAWING, STYLE, TITLE):
            assert text in visit.text
        for control in visit.page.query_selector_all("select"):
            control.select_option(index=1)
        visit.touch_everything()
        assert visit.page.query_selector_all("img, iframe, object, foreignObject") == []
        visit.assert_quiet()


def test_the_contents_lead_to_their_sections(chromium, reports):
    with browser.visiting(chromium, reports / "table.html", reduced_motion="reduce") as visit:
        links = visit.page.query_selector_all("nav a")
        assert len(links) >= 8
        for link in links:
            visit.page.evaluate("scrollTo({top: 0, behavior: 'instant'})")
            link.click()
            target = link.get_attribute("href")
            assert visit.page.evaluate("location.hash") == target
            visit.page.wait_for_function(
                "place => { const y = document.querySelector(place).getBoundingClientRect().y;"
                " return y >= -1 && y < innerHeight && (y < 60 ||"
                " scrollY + innerHeight >= document.scrollingElement.scrollHeight - 1) }",
                arg=target,
            )
        visit.assert_quiet()


PICTURES = """() => [...document.querySelectorAll('main figure svg')]
  .filter(drawing => drawing.checkVisibility() && drawing.getBoundingClientRect().height > 40)
  .map(drawing => drawing.querySelectorAll('path, text').length)"""


@pytest.mark.parametrize("name", REPORTS)
def test_every_picture_is_there_without_javascript(chromium, reports, name):
    shown = []
    for javascript in (True, False):
        with browser.visiting(chromium, reports / f"{name}.html", javascript=javascript) as visit:
            shown.append(visit.page.evaluate(PICTURES))
            assert visit.page.locator("#posterior .chance").first.inner_text().endswith("%")
            visit.assert_quiet()
    assert shown[0] == shown[1]
    assert min(shown[0]) > 5
    assert len(shown[0]) >= 5


LETTERING = """() => [...document.querySelectorAll('main figure svg')].flatMap(drawing => {
  const edge = drawing.getBoundingClientRect();
  const level = text => !/rotate\\(-?0*[1-9]/.test(text.getAttribute('transform') ?? '');
  const texts = [...drawing.querySelectorAll('text')].filter(text => text.textContent.trim() && level(text));
  const boxes = texts.map(text => [text.textContent.trim(), text.getBoundingClientRect()]);
  const cut = boxes.filter(([, b]) => b.left < edge.left - 1 || b.right > edge.right + 1 || b.bottom > edge.bottom + 1);
  const over = boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.3 * Math.min(a.height, b.height))
    .map(([other]) => `${one} lies over ${other}`));
  return [...cut.map(([one]) => `${one} is cut`), ...over];
})"""


@pytest.mark.parametrize("name", REPORTS)
def test_no_label_of_a_picture_is_cut_or_lies_over_another(chromium, reports, name):
    with browser.visiting(chromium, reports / f"{name}.html") as visit:
        assert visit.page.locator("main figure svg text").count() > 100
        assert visit.page.evaluate(LETTERING) == []


POSTERIOR = "lines => lines.map(line => ['.name', '.chance'].map(part => line.querySelector(part).innerText))"


def posterior_shown(visit):
    """What the panel says of each class."""
    return dict(visit.page.eval_on_selector_all("#posterior li", POSTERIOR))


class Menu:
    """A control that offers labels."""

    def __init__(self, control):
        self.box = control.query_selector("select")
        self.labels = [option.inner_text() for option in self.box.query_selector_all("option")][1:]

    def set_at_random(self, rng):
        label = str(rng.choice(self.labels))
        self.box.select_option(label=label)
        return label


class Slider:
    """A control that is drawn to a number."""

    def __init__(self, control):
        self.box = control.query_selector("input[type=range]")
        self.most = int(self.box.get_attribute("max"))
        self.shown = control.query_selector("output")

    def set_at_random(self, rng):
        self.box.fill(str(rng.integers(0, self.most + 1)))
        self.box.press("ArrowRight")
        return float(self.shown.inner_text().replace("−", "-"))


def controls_of(visit):
    """The controls of the panel by the names of their columns."""
    return {
        control.query_selector("label").inner_text(): (Menu if control.query_selector("select") else Slider)(control)
        for control in visit.page.query_selector_all("#controls .control")
    }


def test_the_panel_answers_as_the_model_does(chromium, reports, orchard):
    model = load(orchard)
    columns = [choice.column for choice in model.schema_.choices]
    rng = np.random.default_rng(0)
    with browser.visiting(chromium, reports / "table.html") as visit:
        unknown, controls = posterior_shown(visit), controls_of(visit)
        for _ in range(12):
            known = {name: control.set_at_random(rng) for name, control in controls.items() if rng.random() < 2 / 3}
            chances = model.predict_proba({name: [known.get(name)] for name in columns})[0]
            expected = {str(label): percent(chance) for label, chance in zip(model.classes_, chances, strict=True)}
            assert_same_chances(posterior_shown(visit), expected)
            visit.page.click("#forget-all")
            assert posterior_shown(visit) == unknown
        visit.assert_quiet()


def test_the_panel_lets_a_linear_layer_speak(chromium, reports, counter):
    assert counter.trained_.tuning.layer is not None
    rng = np.random.default_rng(0)
    with browser.visiting(chromium, reports / "counted.html") as visit:
        unknown, controls = posterior_shown(visit), controls_of(visit)
        for _ in range(8):
            known = {name: control.set_at_random(rng) for name, control in controls.items() if rng.random() < 0.8}
            row = {choice.column: [known.get(choice.column)] for choice in counter.schema_.choices}
            shares = zip(("False", "True"), counter.predict_proba(row)[0], strict=True)
            assert_same_chances(posterior_shown(visit), {name: percent(share) for name, share in shares})
            visit.page.click("#forget-all")
            assert posterior_shown(visit) == unknown
        visit.assert_quiet()


def assert_same_chances(shown, expected):
    """Equal to the digit shown."""
    assert shown.keys() == expected.keys()
    for name, chance in shown.items():
        assert number_of(chance) == pytest.approx(number_of(expected[name]), abs=0.1 + 1e-9)


def number_of(chance):
    """Percent as a number: those too small or large to be shown stand at their bound."""
    return {">99.9%": 99.95, "<0.1%": 0.05}.get(chance) or float(chance.removesuffix("%"))


def test_a_text_typed_into_the_page_is_answered_as_by_the_model(chromium, reports, word_counter):
    rng = np.random.default_rng(1)
    with browser.visiting(chromium, reports / "texts.html") as visit:
        unknown = posterior_shown(visit)
        for _ in range(6):
            words = " ".join(rng.choice(MESSAGES)["text"] for _ in range(2)).split()
            text = " ".join([*rng.choice(words, 6), "Zebra?"])
            visit.page.fill("#controls textarea", text)
            chances = word_counter.predict_proba([text])[0]
            expected = {str(key): percent(share) for key, share in zip(word_counter.classes_, chances, strict=True)}
            assert_same_chances(posterior_shown(visit), expected)
            assert visit.page.inner_text("#controls output") == "Say nothing here: zebra"
            visit.page.click("#forget-all")
            assert posterior_shown(visit) == unknown
        visit.assert_quiet()


SCRIPTS = [
    "Win a PRIZE now!! Café élan naïve, naïve", "Straße ΑΣΣ İstanbul ﬁne Ⅷ ²", "東京タワー is 北京 city ❤️👍🏽 ok",
    "see  you\tat\nnoon... 12:30 £5", "สวัสดีครับ hello नमस्ते", "e\u0301clair co-op don't O\u2019Neil x\u200dy ", "a",
]  # fmt: skip
WAYS = [
    TextOptions(), TextOptions(ngrams=2), TextOptions(ngrams=3, shortest=2, fold_case=False),
    TextOptions(words="spaced", fold_accents=True), TextOptions(characters=True, ngrams=4, shortest=2),
    TextOptions(characters=True, ngrams=2, fold_accents=True, fold_case=False),
]  # fmt: skip


def test_the_page_cuts_texts_of_any_script_as_the_model_does(chromium, reports):
    labels = [str(index) for index in range(len(SCRIPTS))]
    with browser.visiting(chromium, reports / "texts.html") as visit:
        for way in WAYS:
            model = NaiveBayes("text", "default", text=way, calibrate=False).fit(SCRIPTS, labels)
            (parameters,) = model.predictor_.parameters
            terms, seen = [spelled_term(parameters, row) for row in range(len(parameters))], parameters.seen
            counted = [Counter() for _ in SCRIPTS]
            for word, label, count in zip(seen.words.tolist(), seen.labels.tolist(), seen.counts.tolist(), strict=True):
                counted[label][terms[word]] += int(count)
            recipe = recipe_for_page(way)
            alphabet = alphabet_for([SimpleNamespace(recipe=recipe)])
            told = visit.page.evaluate(
                "([alphabet, recipe, texts]) => { const read = textReader(alphabet);"
                " return texts.map(text => read(text, recipe)) }",
                [alphabet, recipe, SCRIPTS],
            )
            assert [Counter(one) for one in told] == counted
