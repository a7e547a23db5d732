"""What is really imported when the command line and the app start (the contracts' run-time twin)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import make_project, numbered

HEAVY = {"aiohttp", "httpx", "pandas", "scipy", "sympy", "sqlite_utils", "math_verify", "sklearn", "pyarrow"}


def loaded(code: str, *arguments: str) -> set[str]:
    """Top-level modules a fresh interpreter has after running some code."""
    script = code + "\nimport json, sys\nprint(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_imports_no_front_end_and_nothing_heavy() -> None:
    code = (
        "import click.testing, workbench.app.cli\n"
        "assert click.testing.CliRunner().invoke(workbench.app.cli.root, ['--help']).exit_code == 0"
    )
    assert loaded(code) & (HEAVY | {"textual", "numpy", "msgspec"}) == set()


def test_a_command_that_only_counts_imports_nothing_heavy(tmp_path: Path) -> None:
    path = make_project(tmp_path, numbered(2)).path
    code = (
        "import sys, click.testing\n"
        "from workbench.app.cli import root\n"
        "assert click.testing.CliRunner().invoke(root, ['status', sys.argv[1], '--json']).exit_code == 0"
    )
    assert loaded(code, str(path)) & (HEAVY | {"textual", "numpy"}) == set()


@pytest.mark.parametrize("annotator", [None, "ann"])
def test_the_app_starts_without_anything_heavy(tmp_path: Path, annotator: str | None) -> None:
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


def test_the_server_of_the_app_is_not_the_app() -> None:
    assert loaded("import workbench.app.web.serve.server") & ((HEAVY - {"aiohttp"}) | {"textual", "numpy"}) == set()


def test_a_reward_function_imports_nothing_that_calls_servers() -> None:
    code = "import sys, workbench.training.reward\nassert 'workbench.llm.caller' not in sys.modules"
    assert loaded(code) & (HEAVY | {"textual"}) == set()
