"""Whatever is in the data, no character of it moves a cursor, hides or turns its neighbours on anyone's terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import commands
from candide import NaiveBayes
from candide.api import verbs
from candide.data.errors import CandideError
from candide.data.visible import HARMFUL, HARMFUL_IN_LINES, visible, visible_json, visible_lines

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**commands.ENVIRONMENT, "TERM": "xterm"}
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x1b[48;5;199mP\x08\x7f\u202egnp\u2066"
"""A window's title, a cleared screen, colours, a backspace, letters turned round."""

OURS = re.compile(r"\x1b\[(?!48;5;199m)[0-9;]*m|\x1b\[\?25[lh]|\r?\x1b\[[0-9]*[AK]")
"""What Rich writes: colours (but not that pink), and the moves of a progress bar."""

ORDINARY = (
    "plain words, naïve café: 50 € (½)",
    "Ελληνικά, русский, עברית, العربية, हिन्दी, ไทย, 漢字かな交じり文, 한국어, አማርኛ",
    "می‌خواهم",  # Persian parts letters with U+200C
    "क्‍ष",  # Hindi joins them with U+200D
    "ខ្ញុំ​ស្រឡាញ់",  # Khmer parts words with U+200B
    "👩‍👧 👍🏽 ❤️‍🔥 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🇫🇷 1️⃣",
    r"C:\new\table.csv and a literal \x1b",
)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_of_every_script_stays_as_it_is(text):
    assert visible(text) == text
    assert visible_lines(text) == text


@given(st.text(alphabet=st.characters(codec=None, exclude_categories=())))
def test_nothing_harmful_is_left(text):
    assert not HARMFUL.search(visible(text))
    assert not HARMFUL_IN_LINES.search(visible_lines(text))
    assert visible(text).splitlines() in ([], [visible(text)])
    assert visible(visible(text)) == visible(text)


@given(st.recursive(st.text(alphabet=st.characters(codec=None, exclude_categories=())), lambda one: st.lists(one)))
def test_json_that_is_made_visible_says_the_same(data):
    text = visible_json(json.dumps(data, ensure_ascii=False))
    assert not HARMFUL_IN_LINES.search(text)
    assert json.loads(text) == data


def test_two_names_that_look_alike_are_told_apart():
    assert len({visible(name) for name in ("spam", "sp\u200bam", "sp\xadam", "sp\u2060am", "spam\ufeff", "spam ")}) == 6


def test_errors_are_visible_in_python_too():
    with pytest.raises(CandideError) as caught:
        verbs.fit({EVIL: ["a", "b"], "y": ["u", "v"]}, "nothing like it")
    assert "\\x1b" in str(caught.value)
    assert not HARMFUL.search(str(caught.value))


def test_warnings_are_visible():
    with pytest.warns(UserWarning, match="only one class") as caught:
        NaiveBayes().fit({"x": [1.0, 2.0]}, [EVIL, EVIL])
    assert not any(HARMFUL.search(str(one.message)) for one in caught)


def test_what_python_prints_is_visible():
    table = {"x": [1.0, 2.0, 3.0, 9.0] * 4, f"name{EVIL}": [f"a{EVIL}", "b", "c\nd", "e"] * 4}
    labels = [f"u{EVIL}", "v\nw"] * 8
    model = NaiveBayes().fit(table, labels)
    why = model.explain(table)[0]
    found = [str(why), why.worked(), model.schema_.explain(), str(verbs.evaluate({**table, "y": labels}, label="y"))]
    found += [str(verbs.fit({**table, "y": labels}, "y"))]
    for text in found:
        assert not HARMFUL.search(text.replace("\n", "")), text
        assert "\\x1b" in text


class Commands:
    """Commands typed in one folder, into pipes or on terminals, which show how far long work is from the start."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.server = commands.forked()

    def __call__(self, words: list[str], on_terminal: bool) -> tuple[int, str]:
        """The exit code, and both outputs together."""
        if not on_terminal:
            path = self.folder / "said"
            path.write_bytes(b"")
            self.server.start(words, self.folder, path, path, ENVIRONMENT)
            return self.server.ended(), path.read_bytes().decode("utf-8", "surrogateescape")
        return self.server.on_terminal(words, self.folder, environment=ENVIRONMENT, patience=1e-9)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Commands:
    """A folder in which every name, header, label, category and word is hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    header = ("x", f"head{EVIL}", "text\nof two lines", f"label{EVIL}")
    rows = [
        (str(3 * (index % 2) + index / 7), f"{'ab'[index % 2]}{EVIL}", f"word{index % 3}{EVIL} and\tmore {index}",
         f"{'uv'[index % 2]}{EVIL}\nerror: none")
        for index in range(40)
    ]  # fmt: skip
    quoted = ["," .join('"' + cell.replace('"', '""') + '"' for cell in row) for row in (header, *rows)]
    (folder / f"rows{EVIL}.csv").write_text("\n".join(quoted) + "\n", newline="")
    (folder / "bad.csv").write_text("\n".join([*quoted, f'"no number{EVIL}","a","b","c"', "1,2"]) + "\n", newline="")
    (folder / f"texts{EVIL}").mkdir()
    for index, (_, _, text, _) in enumerate(rows[:4]):
        (folder / f"texts{EVIL}" / f"{index}{EVIL}.txt").write_text(text)
    fitted = verbs.fit(folder / ROWS, LABEL, folder / MODEL)  # each command finds a model, whichever of them run here
    verbs.learn(fitted, folder / ROWS, folder / TWICE)
    verbs.fit(folder / ROWS, LABEL, folder / FEW, where="x < 5")
    return Commands(folder)


ROWS, MODEL, HEAD, LABEL = f"rows{EVIL}.csv", f"model{EVIL}.candide", f"head{EVIL}", f"label{EVIL}"
TWICE, FEW = f"twice{EVIL}.candide", f"few{EVIL}.candide"
FIT = ["fit", ROWS, "-l", LABEL, "-o", MODEL]
COMMANDS = {
    "fit": FIT,
    "fit json": [*FIT, "--format", "json"],
    "fit without a file": FIT[:-2],
    "inspect": ["inspect", MODEL],
    "inspect json": ["inspect", MODEL, "--format", "json"],
    "evaluate": ["evaluate", MODEL, ROWS],
    "evaluate json": ["evaluate", MODEL, ROWS, "--format", "json"],
    "evaluate leaving out": ["evaluate", ROWS, "-l", LABEL],
    "inspect in a pipe": ["inspect", MODEL],
    "explain": ["explain", MODEL, ROWS, "--rows", "2,3"],
    "explain worked": ["explain", MODEL, ROWS, "--worked"],
    "explain json": ["explain", MODEL, ROWS, "--format", "json"],
    "explain to a file": ["explain", MODEL, ROWS, "-o", f"why{EVIL}.txt"],
    "predict to a file": ["predict", MODEL, ROWS, "-o", f"out{EVIL}.csv"],
    "compare": ["compare", ROWS, "-l", LABEL, "--folds", "2", "--rows", "20"],
    "compare models": ["compare", MODEL, FEW],
    "compare models json": ["compare", MODEL, FEW, "--format", "json"],
    "learn": ["learn", MODEL, ROWS, "-o", f"more{EVIL}.candide"],
    "forget": ["forget", TWICE, ROWS],
    "refit": ["refit", MODEL, ROWS, "-o", f"anew{EVIL}.candide"],
    "merge": ["merge", MODEL, MODEL, "-o", f"sum{EVIL}.candide"],
    "sample to a file": ["sample", MODEL, "-o", f"drawn{EVIL}.csv"],
    "report": ["report", MODEL, "-o", f"page{EVIL}.html"],
}
FAILING = {
    "no such file": ["fit", f"nothing{EVIL}", "-l", "y"],
    "no such label": ["fit", ROWS, "-l", f"nothing{EVIL}"],
    "no such row": ["explain", MODEL, ROWS, "--rows", "99"],
    "no such type": ["fit", ROWS, "-l", LABEL, "--type", f"{HEAD}=thing{EVIL}"],
    "no such family": ["fit", ROWS, "-l", LABEL, "--family", f"{HEAD}=thing{EVIL}"],
    "a family that cannot be": ["fit", ROWS, "-l", LABEL, "--family", f"{HEAD}=poisson"],
    "no such class": ["sample", MODEL, "--label", f"nothing{EVIL}"],
    "no such command": [f"nothing{EVIL}"],
    "no such option": ["inspect", MODEL, f"--nothing{EVIL}"],
    "an option that is no number": ["predict", MODEL, ROWS, "--confidence", f"a{EVIL}"],
    "a bad value": ["fit", "bad.csv", "-l", LABEL],
    "a bad value to predict": ["predict", MODEL, "bad.csv"],
    "rows to forget never learned": ["forget", MODEL, f"texts{EVIL}"],
    "parquet": ["predict", MODEL, ROWS, "--format", "parquet"],
    "no model": ["inspect", ROWS],
    "no column": ["report", MODEL, "--picture", "feature", "--column", f"nothing{EVIL}", "-o", "x.svg"],
}


IN_PIPES = ("fit json", "inspect in a pipe", "evaluate json", "explain json", *list(FAILING)[::2])
"""Each runs once: these into a pipe, all others on a terminal."""


@pytest.mark.parametrize("name", [*COMMANDS, *FAILING])
def test_no_command_lets_data_reach_the_screen_raw(hostile, name):
    words, on_terminal = {**COMMANDS, **FAILING}[name], name not in IN_PIPES
    code, said = hostile(words, on_terminal)
    assert code == (2 if name in FAILING else 0), said
    raw = HARMFUL_IN_LINES.search(OURS.sub("", said) if on_terminal else said)
    assert raw is None, said[max(raw.start() - 40, 0) : raw.end() + 40]
    assert not any(line.startswith("error: none") for line in said.splitlines())


PRINTED = {
    "predict": ["predict", MODEL, ROWS],
    "predict tsv": ["predict", MODEL, ROWS, "--format", "tsv"],
    "predict jsonl": ["predict", MODEL, ROWS, "--format", "jsonl"],
    "sample": ["sample", MODEL, "--seed", "1"],
}


@pytest.mark.parametrize("words", PRINTED.values(), ids=PRINTED)
def test_rows_on_a_terminal_are_visible_and_in_a_pipe_as_they_are(hostile, words):
    if not (hostile.folder / MODEL).exists():
        hostile(FIT, False)
    code, said = hostile(words, True)
    assert code == 0, said
    assert HARMFUL_IN_LINES.search(OURS.sub("", said)) is None
    assert "\\x1b" in said or "\\u001b" in said
    code, kept = hostile(words, False)
    assert code == 0
    assert EVIL in kept or json.dumps(EVIL, ensure_ascii=False)[1:-1] in kept


def test_json_keeps_the_data(hostile):
    _, said = hostile([*FIT, "--format", "json"], False)
    card = json.loads(said)
    assert card["label"] == LABEL
    assert HEAD in {column["column"] for column in card["columns"]}


def test_colours_of_our_own_survive(hostile):
    hostile(FIT, False)
    assert "\x1b[1m" in hostile(["inspect", MODEL], True)[1]
    assert "\x1b[32m" in hostile(["explain", MODEL, ROWS], True)[1]
    assert "\x1b[31merror:\x1b[0m" in hostile(["inspect", "nothing"], True)[1]
