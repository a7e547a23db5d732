"""A judge is added with a form and the keyboard alone; errors are shown at their fields."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.widgets.collapsible import CollapsibleTitle

from tests.helpers import make_project, numbered
from tests.servers.scripted import Received, Scripted, scripted
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, add_run, notices, opened, press, screen_of, settle, text_of
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import PickMenu
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField, OptionSection
from workbench.app.tui.kit.prompt_line import CompletingInput
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screens.add_judge import AddJudgeScreen, PreviewScreen
from workbench.app.tui.screens.start_run import SetUpRunScreen
from workbench.config.file import FOLDER_VARIABLE
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.runs import verifying
from workbench.runs.trust import NotTrustedError

URL = "http://h:9/v1"
KEY = "sk-proj-0123456789abcdef"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))
    return make_project(tmp_path, numbered(2))


def field(app: WorkbenchApp, name: str) -> OptionField:
    return app.screen.query_one(f"#option-{name}", OptionField)


def trouble(app: WorkbenchApp, name: str) -> str:
    """Return the error shown at a field."""
    found = field(app, name)
    assert found.wrong in str(found.query_one(".about", Static).content)
    return found.wrong


def saved(project: Project) -> dict[str, Any]:
    path = project.path.with_name("workbench.toml")
    return tomllib.loads(path.read_text()).get("verifiers", {}) if path.exists() else {}


async def fill(pilot: Pilot[None], **values: str) -> None:
    """Put values into fields, unfolding their sections."""
    for section in pilot.app.screen.query(OptionSection):
        if values.keys() & {option.name for option in section.section.options}:
            section.collapsed = False
    await pilot.pause()
    for name, value in values.items():
        field(pilot.app, name).value = value  # type: ignore[arg-type]
    await settle(pilot)


def hidden(app: WorkbenchApp, name: str) -> bool:
    """Return whether an option would be invisible even if scrolled to."""
    if not app.screen.query(f"#option-{name}"):
        return True
    return any(not widget.display for widget in (field(app, name), *field(app, name).ancestors))


def offered(app: WorkbenchApp, name: str) -> bool:
    """Return whether a visible section has an option, folded or not."""
    sections = [section for section in app.screen.query(OptionSection) if section.display]
    return name in {option.name for section in sections for option in section.section.options}


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_judge_is_added_by_keys_alone(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, *":v", "enter", "A")
        screen_of(app, AddJudgeScreen)
        await pilot.press(*"my-judge", "enter", "tab", "tab", *URL, "enter", *"qwen", "enter")
        while app.focused is not field(app, "reference").line:
            await pilot.press("tab")
        await settle(pilot)
        assert app.screen.region.contains_region(field(app, "reference").region)
        await pilot.press("right", "right", "f4")
        await settle(pilot)
        assert saved(project) == {
            "my-judge": {"kind": "llm-judge", "base_url": URL, "model": "qwen", "reference": "false"}
        }
        # One key here starts it, as the screen shows.
        assert screen_of(app, SetUpRunScreen).chosen.name == "my-judge"
        assert "my-judge is ready: f4 starts it" in text_of(app, "#set-up-ready")
        assert "f3 tries it" in text_of(app, "#set-up-ready")
        assert {"f4", "f3"} <= {key.name for key in app.screen.query_one(Footer).keys}
        assert [type(screen).__name__ for screen in app.screen_stack[1:]] == [
            "HomeScreen",
            "RunsScreen",
            "SetUpRunScreen",
        ]
        await press(pilot, "escape", "a")
        chooser: object = app.screen
        assert isinstance(chooser, PickMenu)
        assert "my-judge" in [one.value for one in chooser.listed]


def server_lines(app: WorkbenchApp) -> list[str]:
    """Return the lines that the form shows about the server, if any."""
    found = app.screen.query_one(".form-tested", Static)
    return str(found.content).splitlines() if found.display else []


@pytest.mark.soak
async def test_judge_that_rejects_a_correct_answer_gets_no_tick(project: Project) -> None:
    with scripted(lambda _: "Final Judgment: No") as server:
        async with opened(project) as (app, pilot):
            await press(pilot, *":n", "enter")
            await fill(pilot, name="my-judge", base_url=server.url, model="qwen")
            await press(pilot, "f5")
            first, *others = server_lines(app)
            assert first.startswith("! qwen at")
            assert any("has a right answer, of which that says: incorrect" in line for line in others)


@pytest.mark.soak
async def test_typing_on_a_heading_fills_the_field_below(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        heading = app.screen.query(CollapsibleTitle).first()
        heading.focus()
        await press(pilot, *"http://x:1/v1")
        assert app.screen.query_one("#option-base_url", OptionField).value == "http://x:1/v1"


async def test_form_reports_the_server_test_in_a_few_lines(project: Project) -> None:
    def answer(received: Received) -> Scripted | str:
        # Like a server that lists its models under any path.
        listed = {"object": "list", "data": [{"id": "qwen", "object": "model"}]}
        return "Yes" if received.path.endswith("/completions") else Scripted(body=listed)

    with scripted(answer) as server:
        async with opened(project) as (app, pilot):
            await press(pilot, *":n", "enter")
            await fill(pilot, name="my-judge", base_url=server.url, model="qwen")
            await press(pilot, "f5")
            (line,) = server_lines(app)
            assert line.startswith(f"✓ qwen at {server.url}: The model 'qwen' is there. It replies: 'Yes'")
            assert "↵" not in line
            assert "LM Studio" not in line
            assert notices(app) == []
            await fill(pilot, model="other")
            assert server_lines(app) == [], "another model replied"
            await fill(pilot, model="qwen")
            await press(pilot, "f4")
            screen_of(app, SetUpRunScreen)
            await press(pilot, "f5")
            assert server_lines(app)[0].startswith("✓ qwen at")
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, name="another", base_url=server.url, model="qwen")
        await press(pilot, "f5")
        (line,) = server_lines(app)
        assert line.startswith("✗ qwen at")
        assert "Is the server running" in line
        await fill(pilot, base_url="ftp://x")
        await press(pilot, "f5")
        assert "http://" in trouble(app, "base_url")
        assert server_lines(app) == []


@pytest.mark.soak
async def test_typed_address_needs_no_further_consent(project: Project, tmp_path: Path) -> None:
    async with opened(project) as (_, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, name="my-judge", base_url=URL, model="qwen")
        await press(pilot, "f4")
        assert len(list((tmp_path / "own").rglob("*"))) > 1
    settings = project.path.with_name("workbench.toml")
    settings.write_text(settings.read_text().replace(":9/", ":10/"))
    with pytest.raises(NotTrustedError):
        verifying.start(project, "my-judge")


@pytest.mark.soak
async def test_api_key_is_rejected_and_removed_from_the_screen(project: Project, tmp_path: Path) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, name="my-judge", base_url=URL, model="qwen", api_key_env=KEY)
        await press(pilot, "f4")
        assert "environment variable" in trouble(app, "api_key_env")
        assert app.focused is field(app, "api_key_env").line
        assert field(app, "api_key_env").value == ""
        assert KEY not in app.export_screenshot()
        await fill(pilot, api_key_env="MY_KEY")
        assert trouble(app, "api_key_env") == ""
        await press(pilot, "f4")
    assert saved(project)["my-judge"]["api_key_env"] == "MY_KEY"
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.soak
async def test_errors_are_shown_at_their_fields(project: Project) -> None:
    add_run(project, "taken", {1: Outcome.CORRECT})
    good = {"name": "fine", "base_url": URL, "model": "qwen", "max_cost": ""}
    wrong = (
        ("name", "taken", "already"),
        ("base_url", "ftp://x", "http://"),
        ("max_cost", "-1", "at least 0"),
        ("template", "../../etc/passwd", "not inside"),
    )
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        for name, value, words in wrong:
            await fill(pilot, **{"template": "", **good, name: value})
            await press(pilot, "f4")
            assert words in trouble(app, name), name
            assert app.focused is field(app, name).line
            assert not hidden(app, name)
    assert saved(project) == {}


@pytest.mark.soak
async def test_only_options_of_the_strategy_are_shown_and_saved(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        assert not offered(app, "rollouts")
        await fill(pilot, name="tree", base_url=URL, model="qwen", strategy="mcts")
        assert offered(app, "rollouts")
        await fill(pilot, rollouts="3")
        assert not hidden(app, "rollouts")
        await fill(pilot, strategy="vanilla")
        assert not offered(app, "rollouts")
        await press(pilot, "f4")
    assert saved(project)["tree"] == {"kind": "llm-judge", "base_url": URL, "model": "qwen", "strategy": "vanilla"}


@pytest.mark.soak
async def test_changing_the_kind_keeps_typed_values(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, name="scores", base_url=URL, model="qwen", strategy="mcts")
        await fill(pilot, kind="reward-model")
        assert field(app, "base_url").value == URL
        assert not app.screen.query("#option-strategy")
        await fill(pilot, dialect="classify", threshold="0.5")
        await press(pilot, "f4")
    expected = {"kind": "reward-model", "base_url": URL, "model": "qwen", "dialect": "classify", "threshold": "0.5"}
    assert saved(project)["scores"] == expected


@pytest.mark.soak
async def test_panel_is_saved_by_the_names_of_its_judges(project: Project) -> None:
    lines = [f'[verifiers.{name}]\nkind = "llm-judge"\nbase_url = "{URL}"\nmodel = "{name}"' for name in "ab"]
    project.path.with_name("workbench.toml").write_text("\n".join(lines))
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, kind="judge-panel")
        await fill(pilot, name="jury", members="a,nobody")
        await press(pilot, "f3")
        assert "'nobody' is not a verifier of this project" in trouble(app, "members")
        await fill(pilot, members="a,b", reducer="min")
        await press(pilot, "f3")
        assert isinstance(app.screen, PreviewScreen)
        await press(pilot, "escape", "f4")
        assert saved(project)["jury"] == {"kind": "judge-panel", "members": "a,b", "reducer": "min"}


@pytest.mark.soak
async def test_viewing_examples_in_a_request_is_recorded_as_a_reveal(tmp_path: Path) -> None:
    rows = [{**row, "question": f"Question {row['question_id']}?"} for row in numbered(12)]
    revealed = "SELECT count(*) FROM label_events WHERE kind = 'reveal' AND task = 'correctness'"
    async with opened(make_project(tmp_path, rows)) as (app, pilot):
        reader = app.project.database.reader()
        await press(pilot, *":n", "enter")
        await fill(pilot, base_url=URL, model="qwen")
        await press(pilot, "f3", "escape")
        assert reader.execute(revealed).fetchone() == (0,)
        await fill(pilot, examples="2")
        await press(pilot, "f3")
        assert isinstance(app.screen, PreviewScreen)
        assert "Verdict: incorrect" in shown(app)
        assert reader.execute(revealed).fetchone() == (4,)


@pytest.mark.soak
async def test_too_few_final_items_are_reported_at_their_field(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter")
        await fill(pilot, base_url=URL, model="qwen", examples="8")
        await press(pilot, "f3")
        assert "4 correct items of different questions are needed" in trouble(app, "examples")


async def test_preview_shows_the_exact_request_without_sending_it(tmp_path: Path) -> None:
    rows = [{"question": f"{text} {number}", "completion": text} for number, text in enumerate(HOSTILE)]
    async with opened(make_project(tmp_path, rows)) as (app, pilot):
        await press(pilot, *":n", "enter", "f3")
        assert "missing" in trouble(app, "base_url")
        await fill(pilot, base_url=URL, model="qwen", fence="off")
        await press(pilot, "f3")
        assert isinstance(app.screen, PreviewScreen)
        assert f"POST {URL}/chat/completions" in shown(app)
        assert "[bold]x[/] 0" in shown(app)
        await press(pilot, "o")
        body = next(line for line in shown(app).splitlines() if line.startswith("{"))
        assert "[bold]x[/] 0" in json.loads(body)["messages"][0]["content"]
        await press(pilot, "o", "i")
        app.screen.query_one(CompletingInput).value = "c2"
        await press(pilot, "enter")
        assert "␛[31m 2" in shown(app)
        await press(pilot, "i")
        app.screen.query_one(Input).value = "nobody"
        await press(pilot, "enter", "escape", "escape")
        assert isinstance(app.screen, AddJudgeScreen)
        assert field(app, "base_url").value == URL


def shown(app: WorkbenchApp) -> str:
    document = app.screen.query_one(Reader).document
    return "" if document is None else document.text


@pytest.mark.soak
async def test_leaving_asks_before_discarding_values(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":n", "enter", "x", "escape", "escape")
        assert isinstance(app.screen, AddJudgeScreen)
        assert field(app, "name").value == "x"
        await fill(pilot, name="")
        await press(pilot, "escape")
        assert type(app.screen).__name__ == "HomeScreen"


async def test_annotator_cannot_add_a_judge(project: Project) -> None:
    from workbench.labelling.people import add_annotators

    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        await press(pilot, *":n", "enter", "escape")
        app.open_screen("add_judge")
        await settle(pilot)
        assert type(app.screen).__name__ == "HomeScreen"
        assert text_of(app, "TitleBar")


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "turns", [turns if turns % 20 == 0 else pytest.param(turns, marks=pytest.mark.soak) for turns in range(0, 60, 4)]
)
async def test_quitting_while_the_form_opens_is_no_error(project: Project, turns: int) -> None:
    app = WorkbenchApp(project)
    async with app.run_test(size=SIZES[1]) as pilot:
        await pilot.pause()
        app.open_screen("add_judge")
        while not (app.screen.query("#option-kind") or app.screen.query(OptionSection)):
            await asyncio.sleep(0)
        for _ in range(turns):
            await asyncio.sleep(0)
        await app.action_quit()
    assert app.return_code == 0
