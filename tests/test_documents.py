"""Every fenced code block of README.md, CONTRIBUTING.md and docs/*.md is run, so that no document goes stale.

A document is a session: its blocks run from top to bottom in a temporary folder that holds a copy of examples/.

- ```python blocks of a document share one namespace. `expression  # → value` shows a value as Python writes it.
- ```sh is run line by line, with this environment's `candide` and `python` on the path; any exit code but 0 fails.
  Where every line begins with `make `, which may take minutes, the targets are looked up in the Makefile instead.
- ```text right after such a block is what it printed. `...` stands for anything, as in doctest. Numbers with decimals
  may differ by one in the last place shown, since processors round differently; whole numbers may not.
- ```text anywhere else is shown and not run: a drawing, a formula, what a command answers to --help.

Any other kind of block fails. docs/cli.md is what docs/make_cli.py writes (see test_command_line.py); the examples in
it are run here, and links to files of the repository are followed.

    python tests/test_documents.py docs/tour.md

puts what blocks print today in place of what the documents say, where that differs.
"""

from __future__ import annotations

import ast
import csv
import difflib
import doctest
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

import pytest

from commands import ENVIRONMENT, candide

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
RUNNABLE = ("python", "sh")
SHOWN = "text"
ARROW = "# → "
ANYTHING = "..."
DECIMAL = r"[-+]?\d++\.\d++(?:e[-+]?\d+)?(?!\.\.)"
ROUNDING = 1e-9


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, the lines within, the number of its first line, and what it is said to print."""

    kind: str
    code: str
    line: int
    printed: Block | None = None


@dataclass
class Session:
    """A folder and a namespace, in which the blocks of one document run one after the other."""

    folder: Path
    namespace: dict[str, object] = field(default_factory=dict)

    def run(self, block: Block) -> str:
        """What the block prints."""
        if block.kind == "python":
            with chdir(self.folder), redirect_stdout(StringIO()) as printed:
                run_python(block.code, self.namespace)
            return printed.getvalue()
        lines = lines_of_shell(block.code)
        if all(line.startswith("make ") for line in lines):
            refuse_unknown_targets(lines)
            return ""
        return "".join(run_line(line, self.folder) for line in lines)


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a document, output joined to what printed it."""
    blocks: list[Block] = []
    lines = text.splitlines()
    index, adjacent = 0, False
    while index < len(lines):
        fence = re.match(r" {0,3}(```+|~~~+)(.*)", lines[index])
        if fence is None:
            index, adjacent = index + 1, adjacent and not lines[index].strip()
            continue
        end = next((at for at in range(index + 1, len(lines)) if lines[at].strip() == fence[1]), None)
        assert end is not None, f"the block of line {index + 1} has no end"
        block = Block(fence[2].strip(), "".join(f"{line}\n" for line in lines[index + 1 : end]), index + 2)
        assert block.kind in (*RUNNABLE, SHOWN), f"line {index + 1}: no test knows what to do with ```{block.kind}"
        if block.kind == SHOWN and adjacent and blocks[-1].kind in RUNNABLE:
            blocks[-1] = Block(blocks[-1].kind, blocks[-1].code, blocks[-1].line, block)
        else:
            blocks.append(block)
        index, adjacent = end + 1, True
    return blocks


def run_python(code: str, namespace: dict[str, object]) -> None:
    """Run statements; an expression with an arrow behind it must have that value."""
    lines = code.splitlines()
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Expr) and ARROW in lines[statement.end_lineno - 1]:
            promised = lines[statement.end_lineno - 1].rsplit(ARROW, 1)[1].strip()
            value = repr(eval(compile(ast.Expression(statement.value), "<document>", "eval"), namespace))
            assert agree(promised, value), f"{ast.unparse(statement)} is {value}, not {promised}"
        else:
            exec(compile(ast.Module([statement], []), "<document>", "exec"), namespace)


def lines_of_shell(code: str) -> list[str]:
    """The commands of a block: a backslash at the end of a line continues it."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def run_line(line: str, folder: Path) -> str:
    """What a command prints; it must end well, and complain about nothing. Our own need no shell of their own."""
    here = str(Path(sys.executable).parent)
    environment = {**ENVIRONMENT, "PATH": os.pathsep.join([here, os.environ["PATH"]]), "COLUMNS": "80"}
    name, *words = shlex.split(line, comments=True)
    if name == "candide" and not re.search(r"[|&;<>()$`*~]", " ".join(words)):
        done = candide(*words, folder=folder, environment=environment)
    else:
        done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), f"{line}\nended with {done.returncode}\n{done.stderr}"
    return done.stdout


def refuse_unknown_targets(lines: list[str]) -> None:
    """Raise unless the Makefile has every target that is made."""
    known = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    for line in lines:
        for target in line.split("#")[0].split()[1:]:
            assert target in known, f"the Makefile has no target {target}"


def agree(promised: str, found: str) -> bool:
    """Whether a text is what was promised, `...` standing for anything; empty lines around it do not matter."""
    promised, found = promised.strip("\n"), found.strip("\n")
    if doctest.OutputChecker().check_output(promised, found, doctest.ELLIPSIS):
        return True
    matched = re.fullmatch(shape_of(promised), found, flags=re.DOTALL)
    numbers = re.findall(DECIMAL, promised)
    return matched is not None and all(map(near, numbers, matched.groups()))


def shape_of(promised: str) -> str:
    """A pattern for texts that say the same but for their decimals, each of which is a group."""
    parts = re.split(f"({DECIMAL}|{re.escape(ANYTHING)})", promised)
    kinds = {0: re.escape, 1: lambda part: ".*?" if part == ANYTHING else f"({DECIMAL})"}
    return "".join(kinds[index % 2](part) for index, part in enumerate(parts))


def near(promised: str, found: str) -> bool:
    """Whether two numbers differ by no more than one in the last place that the first shows, or by rounding.

    >>> near("98.1", "98.0"), near("98.1", "97.9"), near("0.9192927474718319", "0.9192927474718321")
    (True, False, True)
    """
    digits, _, exponent = promised.lower().partition("e")
    last_place = 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))
    difference = abs(float(promised) - float(found))
    return difference <= max(1.01 * last_place, ROUNDING * abs(float(promised)))


def session_in(folder: Path) -> Session:
    """A folder with the examples in it."""
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    return Session(folder)


def run_document(text: str, session: Session, name: str) -> None:
    """Run every block, and compare what it prints with what the document says."""
    for block in blocks_of(text):
        if block.kind == SHOWN:
            continue
        try:
            found = session.run(block)
        except Exception as problem:
            raise AssertionError(f"{name}, the block of line {block.line}: {problem}") from problem
        if block.printed is not None and not agree(block.printed.code, found):
            lines = (block.printed.code.splitlines(), found.splitlines())
            difference = "\n".join(difflib.ndiff(*lines))
            raise AssertionError(f"{name}, line {block.printed.line}: printed something else (+)\n{difference}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_of_a_document_runs(document, tmp_path):
    run_document(document.read_text(), session_in(tmp_path), document.name)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_of_a_document_lead_somewhere(document):
    text = re.sub(r"```.*?```", "", document.read_text(), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        assert link.startswith("https://") or (document.parent / link).exists(), link


def test_every_picture_is_shown_in_some_document():
    """The learning curves apart, which benchmarks/results/curves.md shows."""
    shown = {Path(link).name for page in DOCUMENTS for link in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text())}
    drawn = {path.name for path in (ROOT / "docs" / "pictures").iterdir() if not path.name.startswith("curves_")}
    assert drawn <= shown


def test_the_examples_of_the_command_line_run(tmp_path):
    """On the lecture's nineteen passengers, six times over, in the order of the page."""
    lay_out_passengers(tmp_path)
    page = (ROOT / "docs" / "cli.md").read_text()
    examples = [" ".join(found.split()) for found in re.findall(r"Example: (candide (?:\S.*\n *)+)", page)]
    commands = set(re.findall(r"^## candide (\w+)", page, flags=re.MULTILINE))
    assert {example.split()[1] for example in examples} == commands
    for example in examples:
        if example != "candide demo":  # which test_verbs.py runs
            few = " --rows 20 --folds 2" if "compare" in example and "--label" in example else ""
            run_line(example + few, tmp_path)


SEXES = {"f": "female", "m": "male"}


def lay_out_passengers(folder: Path) -> None:
    """The files that the examples speak of."""
    tickets = runpy.run_path(str(ROOT / "examples" / "lecture.py"))["PASSENGERS"].split()
    rows = 6 * [[t[0], SEXES[t[1]], t[2:4], t[5], "yes" if t[7] == "1" else "no"] for t in tickets]
    parts = {"titanic": rows, "new": rows[:5], "test": rows[5:12], "more": rows[12:], "withdrawn": rows[:2],
             "remaining": rows[2:] + rows[12:]}  # fmt: skip
    for name, some in parts.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["class", "sex", "age", "parents_children", "survived"], *some])
    run_line("candide fit titanic.csv --label survived -o monday.candide", folder)
    run_line("candide fit more.csv --like monday.candide -o tuesday.candide", folder)
    run_line(f"candide fit {ROOT}/examples/messages.jsonl --label label -o spam.candide", folder)


BAD = {
    "another output": ("```sh\necho one\n```\n\n```text\ntwo\n```", "something else"),
    "less output": ("```python\nprint(1)\nprint(2)\n```\n```text\n1\n```", "something else"),
    "another value": ("```python\n1 + 1  # → 3\n```", "1 + 1 is 2, not 3"),
    "an exception": ("```python\nlen(None)\n```", "has no len"),
    "an exit code": ("```sh\ncandide fit nowhere.csv --label y -o m.candide\n```", "ended with 2"),
    "a complaint": ("```sh\necho careful >&2\n```", "careful"),
    "no such target": ("```sh\nmake demo\nmake gold\n```", "no target gold"),
    "an unknown kind": ("```ruby\nputs 1\n```", "```ruby"),
    "no kind": ("```\n1\n```", "no test knows"),
    "no end": ("```python\n1\n", "has no end"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_document_that_is_wrong_fails(case, tmp_path):
    text, said = BAD[case]
    with pytest.raises(AssertionError, match=re.escape(said)):
        run_document(text, Session(tmp_path), "page.md")


SAME = [
    ("p 0.9192927474718319,pear", "p 0.9192927474718321,pear"),
    ("98.1% of 12", "98.0% of 12"),
    ("1.5e-05", "1.6e-05"),
    ("0.91... and 2.50", "0.9133 and 2.49"),
    ("a ... b 0.5", "a 17.25 b 0.6"),
]
OTHER = [
    ("98.1% of 12", "98.1% of 13"),
    ("98.1%", "97.9%"),
    ("0.919", "0.919 more"),
    ("0.50 yes", "0.50 no"),
    ("1.5", "one"),
]


@pytest.mark.parametrize(("promised", "found"), SAME)
def test_another_processor_may_round_the_last_place(promised, found):
    assert agree(promised, found)


@pytest.mark.parametrize(("promised", "found"), OTHER)
def test_nothing_else_may_differ(promised, found):
    assert not agree(promised, found)


def test_blocks_share_a_folder_and_a_namespace(tmp_path):
    text = "```python\na = 'x'\nopen('f', 'w').write(a)\n```\n\n```sh\ncat f  # shows\n```\n```text\nx\n```\n"
    text += "words\n\n```text\nonly shown\n```\n\n```python\na  # → 'x'\n[a, 1.5]  # → [..., 1...]\n```"
    run_document(text, Session(tmp_path), "page.md")
    assert [block.printed is not None for block in blocks_of(text)] == [False, True, False, False]


def refreshed(text: str, session: Session) -> str:
    """The document with outputs as they are today; those that still agree stay as they are."""
    lines = text.splitlines(keepends=True)
    found = [(block.printed, session.run(block)) for block in blocks_of(text) if block.kind != SHOWN]
    for shown, printed in reversed(found):
        if shown is not None and not agree(shown.code, printed):
            start = shown.line - 1
            lines[start : start + shown.code.count("\n")] = [printed]
    return "".join(lines)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as index:
            path.write_text(refreshed(path.read_text(), session_in(Path(index))))
