"""The modules imported when the command line and the app start (the run-time counterpart of the import contracts)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.background import PATIENCE_S
from tests.helpers import make_project, numbered
from tests.parts import APP, CORE, PROJECTS, read_project

HEAVY = {"aiohttp", "httpx", "pandas", "scipy", "sympy", "sqlite_utils", "math_verify", "sklearn", "pyarrow"}


def loaded(code: str, *arguments: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after running some code."""
    script = code + "\nimport json, sys\nprint(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_imports_no_front_end_or_heavy_packages() -> None:
    code = (
        "import click.testing, workbench.app.cli\n"
        "assert click.testing.CliRunner().invoke(workbench.app.cli.root, ['--help']).exit_code == 0"
    )
    assert loaded(code) & (HEAVY | {"textual", "numpy", "msgspec"}) == set()


def test_counting_commands_import_no_heavy_packages(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    code = (
        "import sys, click.testing\n"
        "from workbench.app.cli import root\n"
        "assert click.testing.CliRunner().invoke(root, ['status', sys.argv[1], '--json']).exit_code == 0"
    )
    assert loaded(code, str(path)) & (HEAVY | {"textual", "numpy"}) == set()


@pytest.mark.parametrize("annotator", [None, "ann"])
def test_app_starts_without_heavy_packages(tmp_path: Path, annotator: str | None) -> None:
    from workbench.labelling.people import add_annotators

    project = make_project(tmp_path, numbered(2))
    add_annotators(project, ["ann"])
    code = f"""
import asyncio, sys
from workbench.core.project import open_project
from workbench.app.tui.app import WorkbenchApp
async def main():
    app = WorkbenchApp(open_project(sys.argv[1]), {annotator!r})
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
asyncio.run(main())
"""
    assert loaded(code, str(project.path)) & (HEAVY | {"numpy"}) == set()


TO_THE_FIRST_FRAME = """
import json, os, sqlite3, sys
statements = []
connect = sqlite3.connect
def traced(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_trace_callback(statements.append)
    return connection
sqlite3.connect = traced
from workbench.app.cli import root
from textual.app import App
display = App._display
def painted(app, screen, renderable):
    display(app, screen, renderable)
    lines = ["".join(segment.text for segment in strip) for strip in screen._compositor.render_strips()]
    if "Quit" in lines[-1]:
        print(json.dumps([sorted(sys.modules), statements, lines]), flush=True)
        os._exit(0)
App._display = painted
root(sys.argv[1:])
"""


def test_home_is_drawn_before_counting_or_its_imports(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    headless = {**os.environ, "TEXTUAL_DRIVER": "textual.drivers.headless_driver:HeadlessDriver"}
    command = [sys.executable, "-c", TO_THE_FIRST_FRAME, "open", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=headless, timeout=PATIENCE_S)
    modules, statements, lines = json.loads(done.stdout.splitlines()[-1])
    assert "…" in "".join(lines)
    jobs = {name.split(".")[1] for name in modules if name.startswith("workbench.")}
    assert jobs == {"app", "config", "core"}
    assert sum(name.startswith("workbench.") for name in modules) <= 75
    assert len(statements) <= 25
    assert not [sql for sql in statements if "completions" in sql or "questions" in sql]


def test_app_server_does_not_import_the_app() -> None:
    assert loaded("import workbench.app.web.serve.server") & ((HEAVY - {"aiohttp"}) | {"textual", "numpy"}) == set()


WHAT_TRAINS = {
    "judge": r"""
import workbench
assert workbench.judge("2", r"\boxed{2}").outcome.word == "correct"
assert workbench.judge("x", r"\boxed{\int_0^1 f(x) dx}").outcome.word != "correct"
""",
    "trl": r"""
import workbench
with workbench.reward("rules") as reward:
    assert reward(prompts=["q"], completions=[r"\boxed{2}"], ground_truth=["2"]) == [1.0]
""",
    "verl": r"""
from workbench.training.verl import compute_score
assert compute_score("d", r"\boxed{2}", "2")["score"] == 1.0
""",
}


@pytest.mark.parametrize("code", WHAT_TRAINS.values(), ids=WHAT_TRAINS)
def test_training_loads_only_packages_the_core_requires(code: str) -> None:
    found = loaded(code)
    assert found & (HEAVY | {"textual", "numpy"}) == set()
    packages = packages_distributions()
    third_party = {canonicalize_name(name) for module in found for name in packages.get(module, [])}
    # msgspec checks for typing-extensions
    ours = {APP, CORE, "setuptools", "typing-extensions"}
    assert third_party - ours <= required_by(Requirement(line).name for line in read_project(CORE)["dependencies"])


def test_training_loads_only_modules_of_the_core() -> None:
    code = (
        WHAT_TRAINS["judge"]
        + 'import sys\nprint(*{name.split(".")[1] for name in sys.modules if "workbench." in name})'
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    built = tomllib.loads((PROJECTS[CORE] / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]
    core_jobs = {path.partition("/")[2] for path in built["only-include"]}
    assert set(done.stdout.split()) <= core_jobs


def required_by(names: Iterable[str]) -> set[str]:
    """Return the packages and everything they require here."""
    found: set[str] = set()
    waiting = list(map(canonicalize_name, names))
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            needs = map(Requirement, requires(name) or [])
            waiting += [canonicalize_name(one.name) for one in needs if one.marker is None or one.marker.evaluate()]
    return found
