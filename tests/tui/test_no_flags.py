"""The app speaks of no command-line flag, but where it shows a command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import workbench
from tests.helpers import make_project
from tests.tui.stage import notices, opened, press, settle
from tests.tui.test_accuracy import judged_project
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.destinations import DESTINATIONS
from workbench.app.tui.verb_forms import VerbForm
from workbench.app.tui.wording import FLAG, plain, sentence, without_command
from workbench.app.verbs import NOT_IN_APP, every_verb
from workbench.core.errors import UsageError

PACKAGE = Path(workbench.__file__).parent
PROGRAMS = {"--as=", "--at", "--clipboard", "--input", "--json", "--port", "--until-eof"}
"""What other programs are called with."""


def said_in(path: Path) -> Iterator[str]:
    """The texts of a module that are no docstrings."""
    tree = ast.parse(path.read_text("utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def test_no_text_of_the_app_has_a_flag() -> None:
    found = {
        f"{path.name}: {text}"
        for path in (PACKAGE / "app" / "tui").rglob("*.py")
        for text in said_in(path)
        if path.name != "wording.py" and text not in PROGRAMS and FLAG.search(text)
    }
    assert found == set()


def test_what_jobs_say_loses_its_flags_on_the_way() -> None:
    texts = {text for path in PACKAGE.rglob("*.py") if "app" not in path.parts for text in said_in(path)}
    flagged = [text for text in texts if FLAG.search(text)]
    assert len(flagged) > 50
    assert [text for text in flagged if FLAG.search(plain(text))] == []
    error = UsageError("No name: --name x.", "Say --dataset NAME, or: workbench import DB FILE --dataset NAME")
    assert without_command(error) == "No name: name x. Say dataset NAME, or."
    assert sentence("Untyped: 3: workbench curate DB types --accept.") == "Untyped: 3."


@pytest.mark.parametrize("name", [verb.name for verb in every_verb() if verb.name not in NOT_IN_APP])
def test_no_form_says_a_flag(name: str, tmp_path: Path) -> None:
    verb = next(one for one in every_verb() if one.name == name)
    form = VerbForm(verb, verb.declared(), tmp_path / "p.db")
    for field in form.fields:
        assert not FLAG.search(f"{field.name} {field.about}"), field


def flags_in_sight(app: WorkbenchApp) -> list[str]:
    """The lines on the screen and the notices that say one."""
    lines = ["".join(part.text for part in line) for line in app.screen._compositor.render_strips()]
    return [line for line in (*lines, *notices(app)) if FLAG.search(line)]


@pytest.mark.parametrize("judged", [False, True])
async def test_no_screen_says_a_flag(tmp_path: Path, judged: bool) -> None:
    project = judged_project(tmp_path) if judged else make_project(tmp_path)
    async with opened(project, size=(120, 40)) as (app, pilot):
        for name in DESTINATIONS:
            app.open_screen(name)
            await settle(pilot)
            assert flags_in_sight(app) == [], name
            for keys in (["question_mark"], ["enter"], ["d", "d"], ["e"]):
                shown = app.screen
                await press(pilot, *keys)
                assert flags_in_sight(app) == [], (name, keys)
                while app.screen is not shown and len(app.screen_stack) > 1:
                    await press(pilot, "escape")
            app.open_screen("home")
            await settle(pilot)


def test_what_a_person_typed_is_quoted_as_they_did() -> None:
    error = UsageError("No verifier '--execution' has run here.", "There are: execution, rules.")
    assert "'--execution'" in without_command(error)
    assert (
        plain("Invalid value for '--per-item': no.", {"--per-item": "per-item"}) == "Invalid value for 'per-item': no."
    )
