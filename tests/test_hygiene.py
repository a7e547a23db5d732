"""Mistakes that reviews miss: data as markup, prints, machine paths, files that grew too long."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "workbench"
MARKUP_BY_DEFAULT = {"Static", "Label"}
SAFE_MAKERS = {"Content", "Text", "styled", "assemble"}


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Yield the syntax nodes of a module."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def calls(path: Path) -> Iterator[ast.Call]:
    for node in nodes(path):
        if isinstance(node, ast.Call):
            yield node


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def may_be_markup(call: ast.Call) -> bool:
    for keyword in call.keywords:
        if keyword.arg == "markup":
            return not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
    if not call.args:
        return name_of(call) != "notify"
    first = call.args[0]
    if isinstance(first, ast.Constant):
        return False
    return not (isinstance(first, ast.Call) and name_of(first) in SAFE_MAKERS)


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "app" / "tui").rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_data_is_never_markup(path: Path) -> None:
    # Notices of `WorkbenchApp` never are; those of Textual's own `App` are by default.
    names = MARKUP_BY_DEFAULT | ({"notify"} if path.name == "start.py" else set())
    findings = [f"{path.name}:{call.lineno}" for call in calls(path) if name_of(call) in names and may_be_markup(call)]
    assert findings == [], "pass markup=False, or Content/Text"


def test_data_as_markup_is_detected() -> None:
    bad = ["Static(text)", "Static()", "self.notify(text)", "Label(f'{x}')", "Static(text, markup=True)"]
    good = ["Static('fixed')", "Static(text, markup=False)", "notify(text, markup=False)", "Static(Content(text))"]
    assert [may_be_markup(next(iter(_calls(text)))) for text in bad] == [True] * len(bad)
    assert [may_be_markup(next(iter(_calls(text)))) for text in good] == [False] * len(good)


def _calls(text: str) -> Iterator[ast.Call]:
    yield from (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))


SANDBOXED = PACKAGE / "verifiers" / "execution" / "inside" / "child.py"
"""The one file that evaluates foreign code: it runs in the sandbox, and nothing in workbench imports it."""


def test_no_shell_and_no_evaluation() -> None:
    findings = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in PACKAGE.rglob("*.py")
        for call in calls(path)
        if (path != SANDBOXED and isinstance(call.func, ast.Name) and call.func.id in {"eval", "exec"})
        or name_of(call) in {"system", "popen"}
        or any(keyword.arg == "shell" for keyword in call.keywords)
    ]
    assert findings == []


def test_no_process_imports_from_its_working_directory() -> None:
    """The folder holds data, and possibly files that came with it, such as a ``json.py``."""
    started = [
        (f"{path.relative_to(ROOT)}:{node.lineno}", node.elts[1])
        for path in PACKAGE.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.List) and node.elts and "sys.executable" in ast.unparse(node.elts[0])
    ]
    assert len(started) > 3
    assert [place for place, flag in started if ast.literal_eval(flag) not in ("-P", "-I")] == []


def test_files_stay_short() -> None:
    long = {
        str(path.relative_to(ROOT)): count
        for path in PACKAGE.rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > 600
    }
    assert long == {}


def test_no_machine_paths_or_registry_addresses() -> None:
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False).stdout.decode()
    places = [ROOT / name for name in tracked.split("\0") if name] or list(PACKAGE.rglob("*.py"))
    pattern = re.compile(r"(^|[^.\w/])/(work|farm|root|home)/|index" + r"-url")
    found = []
    for place in places:
        if place.is_file():
            text = place.read_bytes().decode("utf-8", "replace")
            found += [f"{place.name}: {match[0]}" for match in pattern.finditer(text)]
    assert found == []


def test_processes_started_by_background_tests_handle_ctrl_c() -> None:
    probe = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    program = (
        "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        "from tests.conftest import enable_ctrl_c; enable_ctrl_c();"
        f"subprocess.run([sys.executable, '-c', {probe!r}], check=True)"
    )
    assert subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True) == "True\n"


NAMED_BY_WHAT_THEY_ARE = {"app/tui/screens", "statistics/metrics", "verifiers/execution/inside", "verifiers/similarity"}
"""Packages of many similar modules, each described by its name."""


@pytest.mark.parametrize(
    "door",
    [
        door
        for door in sorted(PACKAGE.rglob("__init__.py"))
        if door.parent.relative_to(PACKAGE).as_posix() not in NAMED_BY_WHAT_THEY_ARE
    ],
    ids=lambda door: str(door.parent.relative_to(PACKAGE)),
)
def test_package_docstring_names_exactly_its_modules(door: Path) -> None:
    docstring = ast.get_docstring(ast.parse(door.read_text(encoding="utf-8"))) or ""
    modules = {path.stem for path in door.parent.glob("*.py")} - {"__init__", "__main__"}
    behind = modules | {path.parent.name for path in door.parent.glob("*/__init__.py")}
    if behind != {"verifier"}:
        assert behind - set(re.findall(r"\w+", docstring)) == set()
    listed = re.findall(r"(?m)(?:^ *|[.;] )([a-z_]+(?:, [a-z_]+)*):", docstring)
    quoted = re.findall(r"(?<!`)`([a-z_]+)`(?!`)", docstring)
    assert {*quoted, *(name for names in listed for name in names.split(", "))} - behind == set()


EVERYDAY = {
    *["a", "all", "an", "and", "are", "as", "be", "by", "each", "for", "from", "how", "in", "is", "it"],
    *["its", "of", "on", "one", "or", "than", "that", "the", "this", "to", "what", "with"],
}


def content_words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in re.findall(r"\w+", text.lower().replace("_", " "))} - EVERYDAY


def restates(name: str, docstring: str) -> bool:
    return content_words(docstring) <= content_words(re.sub("([A-Z])", r" \1", name))


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(path: Path) -> Iterator[Definition]:
    for node in nodes(path):
        if isinstance(node, Definition):
            yield node


def test_docstrings_say_more_than_the_name() -> None:
    findings = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in PACKAGE.rglob("*.py")
        for node in definitions(path)
        if (docstring := ast.get_docstring(node)) and restates(node.name, docstring)
    ]
    assert findings == []


def test_restated_docstrings_are_detected() -> None:
    assert restates("row_keys", "The rows' keys.")
    assert restates("ModelServer", "A server of a model.")
    assert not restates("zero_inserted", "``3,05`` for 3,5.")
    assert not restates("limits", "How much it may ask.")
