"""The layout of the code: twelve floors, told alike by the import contract, the folders and docs/design.md."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from candide import engines

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "candide"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
CONTRACT = CONTRACTS[0]
FLOORS = [re.split(r" [|:] ", floor) for floor in reversed(CONTRACT["layers"])]
FOLDERS = sorted(path.parent for path in SOURCE.rglob("__init__.py"))
VERBS = {path.stem for path in (SOURCE / "cli").glob("*.py")} | {"learn", "forget", "refit"}
SHARED = {
    **dict.fromkeys(VERBS, "a verb, and the command that calls it"),
    "load": "a verb: of the store, of the verbs and of the estimator",
    "names": "what is in a folder of plug-ins: engines and families",
    "named": "one of a folder of plug-ins: engines and families",
    "main": "what runs when a module is run",
}
"""The functions that may be defined more than once, with the reason."""


def docstring(folder: Path) -> str:
    return ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""


def test_at_most_twelve_floors_that_hold_every_folder():
    assert len(FLOORS) <= 12
    assert sorted(folder for floor in FLOORS for folder in floor) == sorted(
        path.name for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()
    )
    assert CONTRACT["exhaustive"]
    assert not CONTRACT.get("ignore_imports")


def test_the_table_of_floors_is_the_contract():
    table = re.findall(r"^\| (\d+) \| `(\w+)/` \| (.+) \|$", (ROOT / "docs" / "design.md").read_text(), re.MULTILINE)
    expected = [
        (str(number), folder, docstring(SOURCE / folder).splitlines()[0])
        for number, floor in enumerate(FLOORS, start=1)
        for folder in floor
    ]
    assert table == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.relative_to(SOURCE).as_posix())
def test_every_folder_opens_with_a_sentence(folder):
    first = docstring(folder).splitlines()[0]
    assert first.endswith(".")


def test_nobody_knows_which_engine_runs():
    concrete = {f"candide.engines.{name}" for name in engines.names()}
    (rule,) = (rule for rule in CONTRACTS if rule["name"] == "Nobody knows which engine runs")
    assert set(rule["forbidden_modules"]) == concrete
    above = {folder for floor in FLOORS[6:] for folder in floor} | {"sources", "store"}
    assert set(rule["source_modules"]) == {f"candide.{folder}" for folder in above}
    assert not rule.get("ignore_imports")


def test_no_file_stands_outside_a_floor():
    assert {path.name for path in SOURCE.glob("*.py")} == {"__init__.py", "__main__.py"}


def homes(kind: type[ast.ClassDef] | type[ast.FunctionDef]) -> dict[str, list[str]]:
    """The files in which each public name of a kind is defined at the top."""
    found = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(SOURCE).as_posix())
    return found


def test_a_class_has_a_name_of_its_own():
    assert {name: files for name, files in homes(ast.ClassDef).items() if len(files) > 1} == {}


def test_a_function_has_a_name_of_its_own():
    twice = {name: files for name, files in homes(ast.FunctionDef).items() if len(files) > 1}
    assert {name: files for name, files in twice.items() if name not in SHARED} == {}
    for name in VERBS & set(twice):
        assert [file.split("/")[0] for file in twice[name]] == ["api", "cli"]


def test_nobody_above_tells_families_apart_by_their_class():
    """What is asked of a family is declared by it; recipes are of the one family that has them."""
    names = {path.stem for path in (SOURCE / "families").glob("*.py")}
    asked = []
    for path in SOURCE.rglob("*.py"):
        if (SOURCE / "families") in path.parents or path.name == "text_recipes.py":
            continue
        tree = ast.parse(path.read_text())
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
        concrete = {
            alias.asname or alias.name
            for node in imports
            if node.module.startswith("candide.families.") and node.module.split(".")[2] in names
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                kinds = {name.id for name in ast.walk(node.args[1]) if isinstance(name, ast.Name)}
                asked += [f"{path.relative_to(SOURCE)}: {kind}" for kind in kinds & concrete]
    assert not asked


MOST_ARGUMENTS, MOST_LINES = 10, 80
KERNELS = [
    pytest.param(node, id=f"{path.stem}.{node.name}")
    for path in sorted((SOURCE / "kernels").glob("*.py"))
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.FunctionDef)
    and any(ast.unparse(one) in ("compiled", "inlined") for one in node.decorator_list)
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_says_what_it_does_and_why_it_is_large(kernel):
    said = [line.strip() for line in (ast.get_docstring(kernel) or "").splitlines()]
    assert said
    arguments = kernel.args
    count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)
    assert count <= MOST_ARGUMENTS or any(line.startswith("Many arguments because") for line in said)
    lines = (kernel.end_lineno or kernel.lineno) - kernel.lineno + 1
    assert lines <= MOST_LINES or any(line.startswith("Long because") for line in said)


def test_what_is_inlined_is_called_by_kernels_alone_and_in_two_places_at_most():
    """Else it would be compiled more often than a kernel of its own."""
    kernels = [param.values[0] for param in KERNELS]
    names = {kernel.name for kernel in kernels if [ast.unparse(one) for one in kernel.decorator_list] == ["inlined"]}
    called = [node.func.id for kernel in kernels for node in ast.walk(kernel)
              if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    assert names
    assert not {name: called.count(name) for name in names if not 1 <= called.count(name) <= 2}
    for path in set(SOURCE.rglob("*.py")) - set((SOURCE / "kernels").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("candide.kernels"):
                assert not names & {alias.name for alias in node.names}, path


@pytest.mark.parametrize("path", sorted((SOURCE / "kernels").glob("*.py")), ids=lambda path: path.stem)
def test_a_tuple_of_arrays_has_a_contract(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            assert ast.get_docstring(node), node.name
