"""Every command has a form in the app, which shows the command line that it runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import Input

from tests.commands import parsed
from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, add_run, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.cli import root
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.footer import Footer
from workbench.app.tui.kit.option_field import OptionField, Pick
from workbench.app.tui.kit.path_suggester import PathSuggester
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.app.tui.verb_forms import VerbForm, last_refusal
from workbench.app.verbs import NOT_IN_APP, Refused, Verb, every_verb, in_app, verb_named
from workbench.core.errors import OptionError, opt, set_front_end
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.measuring.selecting import best_of, best_of_text

IN_APP = [verb for verb in every_verb() if verb.name not in NOT_IN_APP]
NAMED = {verb.name: verb for verb in IN_APP}
FLAG = re.compile(r"(?<![\w-])--?[a-z]")


@pytest.fixture(autouse=True)
def _use_app_messages(_use_command_line_messages: None) -> None:
    set_front_end(in_app("^p"))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path, numbered(4))


def form_of(verb: Verb, database: str = "/p q/$(x).db") -> VerbForm:
    return VerbForm(verb, verb.declared(), Path(database))


def leaves(command: click.Command, *words: str) -> list[str]:
    if not isinstance(command, click.Group):
        return [" ".join(words)]
    context = click.Context(command)
    inner = {name: command.get_command(context, name) for name in command.list_commands(context)}
    return [leaf for name, one in inner.items() if one for leaf in leaves(one, *words, name)]


def titles(app: App[None]) -> set[str]:
    return {command.title for command in app.get_system_commands(app.screen)}


async def fill(app: App[None], **values: str) -> None:
    for name, value in values.items():
        app.screen.query_one(f"#option-{name}", OptionField).value = value


# -- Available commands


async def test_palette_has_every_command_or_a_reason_why_not(project: Project) -> None:
    every = leaves(root)
    assert sorted(every) == sorted(verb.name for verb in every_verb())
    assert all(NOT_IN_APP.values())
    assert NOT_IN_APP.keys() <= set(every)
    async with opened(project) as (app, pilot):
        assert {f"{app.called(verb)} …" for verb in IN_APP} <= titles(app)
        for verb in IN_APP[1:4]:
            app.open_verb(verb.name)
            await settle(pilot)
            assert screen_of(app, VerbScreen).verb == verb
        await press(pilot, *["escape"] * 3)
        app.open_verb("restore")
        assert not isinstance(app.screen, VerbScreen)


def bare(title: str) -> str:
    """Return the name of a palette command without its kind."""
    return title.removesuffix(" …").casefold()


@pytest.mark.soak
async def test_names_of_palette_commands_are_unique(project: Project) -> None:
    async with opened(project) as (app, pilot):
        for key in "hvyrgb":
            await press(pilot, ":", key, "enter")
            every = [command.title for command in app.get_system_commands(app.screen)]
            forms, others = ([title for title in every if title.endswith(" …") is form] for form in (True, False))
            assert not set(map(bare, forms)) & set(map(bare, others)), type(app.screen).__name__
            opening = [title.removeprefix("Open ") for title in others if title.startswith("Open ")]
            assert key != "h" or not set(opening) & set(others), "Home lists each screen once"
        assert "Accuracy, as a command …" in every


async def test_path_names_each_screen_once(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, ":", "v", "enter")
        app.open_verb("runs")
        await settle(pilot)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        line = str(app.screen.query_one(TitleBar).content)
        assert line.startswith("Home › Verifiers & runs › Runs, as a command › Result")
        app.push_screen(VerbOutputScreen("Runs", "workbench runs p.db", screen_of(app, VerbOutputScreen).ran))
        await settle(pilot)
        assert str(app.screen.query_one(TitleBar).content).count("Result") == 1


async def test_blind_annotators_cannot_run_commands(project: Project) -> None:
    from workbench.labelling.people import add_annotators

    add_annotators(project, ["amira"])
    async with opened(project, annotator="amira") as (app, pilot):
        assert not titles(app) & {f"{verb.title}{more} …" for verb in every_verb() for more in ("", ", as a command")}
        app.open_verb("verdicts")
        await settle(pilot)
        assert not isinstance(app.screen, VerbScreen)


@pytest.mark.parametrize("name", NAMED)
def test_forms_show_no_flags_and_their_lines_are_valid_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    form = form_of(NAMED[name])
    for field in form.fields:
        text = " ".join((field.name, field.about, *field.choices.values()))
        assert not FLAG.search(text), text
    typed = {
        field.name: field.value or next(iter(field.choices), "FILE" if field.is_path else "1")
        for field in form.fields
        if field.value or "(needed)" in field.about or (field.choices and "" not in field.choices)
    }
    monkeypatch.chdir(tmp_path)
    Path("FILE").touch()
    parsed(root, form.line(typed))


# -- Command line


def test_line_can_be_pasted_into_a_shell_for_any_input() -> None:
    form = form_of(verb_named("annotators"))
    typed = {"verb": "add", "names": "amira 'b c' -x $(rm)", "why": ""}
    assert form.line(typed) == ["annotators", "/p q/$(x).db", "--", "add", "amira", "b c", "-x", "$(rm)"]
    assert shlex.split(form.command(typed)) == ["workbench", *form.line(typed)]


def test_defaults_are_omitted_and_required_values_requested() -> None:
    form = form_of(verb_named("assign"))
    with pytest.raises(OptionError) as caught:
        form.line({"annotators": ""})
    assert caught.value.option == "annotators"
    typed = {field.name: field.value for field in form.fields}
    line = form.line({**typed, "annotators": "a,b", "seed": "3", "where": "type=A state=final"})
    assert line[2:] == ["--annotators", "a,b", "--where", "type=A", "--where", "state=final", "--seed", "3"]
    with pytest.raises(OptionError, match="quotation mark"):
        form.line({"annotators": "a", "where": "'"})


def test_database_comes_first_in_groups_and_later_in_code() -> None:
    assert form_of(verb_named("build balanced"), "p.db").line({})[:3] == ["build", "p.db", "balanced"]
    assert form_of(verb_named("code results"), "p.db").line({})[:3] == ["code", "results", "p.db"]


def test_error_is_shown_at_the_option_it_names() -> None:
    form = form_of(verb_named("assign"))
    error = form.refusal(Refused("'x' is not a valid integer.", "per_item"), {})
    assert (error.option, error.wrong) == ("per-item", "'x' is not a valid integer.")
    set_front_end(in_app("^p"))
    error = form.refusal(Refused(f"No. Leave {opt.final_too} out.", None), {})
    assert (error.option, error.wrong) == ("final-too", "No. Leave “final-too” out.")
    assert last_refusal('Read.\n["No.", null]\n') == ("Read.\n", Refused("No.", None))
    assert last_refusal("Read.\nDone.\n") == ("Read.\nDone.\n", None)


# -- Filling in and running


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_annotators_and_assignments_are_added_in_the_app(project: Project, size: tuple[int, int]) -> None:
    async with opened(project, size=size) as (app, pilot):
        app.open_verb("assign")
        await settle(pilot)
        form = screen_of(app, VerbScreen)
        await press(pilot, "ctrl+r")
        assert app.screen.query_one("#option-annotators", OptionField).wrong == "A value is required."
        await fill(app, annotators="amira")
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: not form.is_at_work)
        assert "2 labels per item need" in str(form.query_one(".form-trouble").render())
        await fill(app, annotators="amira,ben")
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert "slots opened" in screen_of(app, VerbOutputScreen).text
        names = project.database.reader().execute("SELECT name FROM annotators ORDER BY name").fetchall()
        assert names == [("amira",), ("ben",)]
        await press(pilot, "escape")
        assert app.screen is form


async def test_output_is_never_markup_and_can_be_copied(project: Project) -> None:
    async with opened(project) as (app, pilot):
        app.open_verb("annotators", verb="add", names="'[red]x[/'")
        await settle(pilot)
        await press(pilot, "ctrl+y")
        assert any("workbench annotators" in text and "'[red]x[/'" in text for text in notices(app))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert "[red]x[/" in screen_of(app, VerbOutputScreen).text
        await press(pilot, "e")
        assert "[red]x[/" in next(project.path.parent.glob("*annotators*.txt")).read_text()


async def test_file_names_are_completed(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").touch()
    (tmp_path / "raw").mkdir()
    (tmp_path / ".hidden").touch()
    suggest = PathSuggester().get_suggestion
    assert await suggest(f"{tmp_path}/ro") == f"{tmp_path}/rows.csv"
    assert await suggest(f"{tmp_path}/") == f"{tmp_path}/raw/"
    assert await suggest(f"{tmp_path}/.h") == f"{tmp_path}/.hidden"
    assert await suggest(f"{tmp_path}/nothing/x") is None


async def test_reason_of_a_rejected_overwrite_is_visible(project: Project) -> None:
    there = project.path.with_name("there.csv")
    there.write_text("x", encoding="utf-8")
    async with opened(project) as (app, pilot):
        app.open_verb("export", file=str(there))
        await settle(pilot)
        await press(pilot, "f4")
        await until(pilot, lambda: app.screen.query_one("#option-force", OptionField).wrong)
        await settle(pilot)
        assert app.screen.region.contains_region(app.screen.query_one("#option-force .about").region)
    assert there.read_text(encoding="utf-8") == "x"


@pytest.mark.soak
async def test_read_only_folder_is_reported_at_the_file(project: Project, tmp_path: Path) -> None:
    async with opened(project) as (app, pilot):
        app.open_verb("export", file=str(tmp_path / "nowhere" / "a.csv"))
        await settle(pilot)
        await press(pilot, "f4")
        field = app.screen.query_one("#option-file", OptionField)
        await until(pilot, lambda: field.wrong)
        await settle(pilot)
        assert field.wrong.startswith(f"{tmp_path / 'nowhere' / 'a.csv'}: No such file or directory")
        assert app.focused is field.line


# -- Leaving and returning


async def form_for(app: WorkbenchApp, pilot: Pilot[None], name: str, **begin: str) -> VerbScreen:
    app.open_verb(name, **begin)
    await until(pilot, lambda: isinstance(app.screen, VerbScreen) and app.screen.form and app.screen.values())
    await settle(pilot)
    return screen_of(app, VerbScreen)


@pytest.mark.soak
async def test_typed_values_are_kept_until_the_command_runs(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await form_for(app, pilot, "assign")
        await press(pilot, *"amira,ben")
        await press(pilot, "escape")
        other = await form_for(app, pilot, "annotators")
        assert "amira" not in str(other.values())
        await press(pilot, "escape")
        opened_form = await form_for(app, pilot, "assign", where="type=A")
        assert (opened_form.values()["annotators"], opened_form.values()["where"]) == ("", "type=A"), "another context"
        await press(pilot, "escape")
        again = await form_for(app, pilot, "assign")
        assert again.values()["annotators"] == "amira,ben"
        await press(pilot, "ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        await press(pilot, "escape", "escape")
        again = await form_for(app, pilot, "assign")
        assert again.values()["annotators"] == "amira,ben", "it was only a trial"
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        await press(pilot, "escape", "escape")
        assert (await form_for(app, pilot, "assign")).values()["annotators"] == ""


@pytest.mark.soak
async def test_cleared_values_stay_cleared(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await form_for(app, pilot, "assign")
        await press(pilot, *"ami")
        await press(pilot, *["backspace"] * 3, "escape")
        assert (await form_for(app, pilot, "assign")).values()["annotators"] == ""


@pytest.mark.few(4)
@pytest.mark.parametrize("size", ONE_SIZE)
@pytest.mark.parametrize(
    ("option", "typed", "message"),
    [
        ("per-item", "two", "'two' is not a valid integer."),
        ("per-subtype", "0", "0 is not in the range x>=1."),
        ("where", "id=c3", "Unknown field 'id'."),
        ("annotators", "o'brien ben", "quote"),
    ],
)
async def test_errors_are_shown_when_a_field_is_left(
    project: Project, size: tuple[int, int], option: str, typed: str, message: str
) -> None:
    async with opened(project, size=size) as (app, pilot):
        await form_for(app, pilot, "assign")
        field = app.screen.query_one(f"#option-{option}", OptionField)
        field.value = typed
        field.line.focus()
        await settle(pilot)
        assert not field.wrong
        await pilot.press("tab")
        await until(pilot, lambda: field.wrong)
        assert message in field.wrong
        assert not FLAG.search(field.wrong)
        await press(pilot, "shift+tab", *["backspace"] * len(typed), "2")
        assert not field.wrong


# -- Output


async def test_wide_table_keeps_its_lines_and_scrolls_sideways(tmp_path: Path) -> None:
    rows = [{"question_id": f"q{n // 2}", "gold": n % 2 == 0} for n in range(8)]
    project = make_project(tmp_path, rows)
    add_run(project, "[b]good", {n: Outcome.CORRECT if n % 2 else Outcome.INCORRECT for n in range(1, 9)})
    async with opened(project, size=(80, 24)) as (app, pilot):
        await press(pilot, *":m", "enter")
        await until(pilot, lambda: bool(app.screen.query("#option-verifier")))
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        await settle(pilot)
        printed = best_of_text(best_of(project)).rstrip().splitlines()
        assert shown_text(app).splitlines() == printed
        (first, *_) = (line for line in printed if line.startswith("[b]good"))
        reader = app.screen.query_one(Reader)

        def drawn() -> list[str]:
            return [reader.render_line(y).text.rstrip() for y in range(reader.size.height)]

        assert first[: reader.wrap_width].rstrip() in drawn()
        head = drawn()[0]
        await press(pilot, *["right"] * 8)
        assert first[-reader.wrap_width :] in drawn()
        assert drawn()[0] == head
        await press(pilot, *["h"] * 8)
        assert first[: reader.wrap_width].rstrip() in drawn()


# -- Trying, running, and running again


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_trial_is_carried_out_from_its_result(project: Project, size: tuple[int, int]) -> None:
    def slots() -> int:
        return int(project.database.reader().execute("SELECT count(*) FROM assignments").fetchone()[0])

    async with opened(project, size=size) as (app, pilot):
        form = await form_for(app, pilot, "assign")
        await fill(app, annotators="amira,ben")
        await press(pilot, "f3")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        tried = app.screen
        assert "only tried · f4 does it" in str(app.screen.query_one(TitleBar).content)
        assert "Nothing was written (“dry-run”)." in shown_text(app)
        assert "f4" in {key.name for key in app.screen.query_one(Footer).keys}
        assert slots() == 0
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen) and app.screen is not tried)
        assert (many := slots()) > 0
        assert "f4" not in {key.name for key in app.screen.query_one(Footer).keys}
        done = str(app.screen.query_one(TitleBar).content)
        assert "done" in done
        await press(pilot, "f4")
        assert slots() == many
        await press(pilot, "escape")
        assert app.screen is form


@pytest.mark.soak
async def test_next_file_gets_another_name_and_its_path_is_shown(
    project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with opened(project) as (app, pilot):
        form = await form_for(app, pilot, "export")
        await press(pilot, *"a.csv", "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert f"Written: {tmp_path / 'a.csv'}" in shown_text(app)
        await press(pilot, "escape", *"b.csv")
        assert form.values()["file"] == "b.csv"
        await press(pilot, "escape")
        form = await form_for(app, pilot, "export")
        await press(pilot, *"c.csv")
        assert form.values()["file"] == "c.csv"


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_training_pairs_can_be_made_from_verdicts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question_id": "q", "completion_id": f"c{n}", "completion": f"c{n}", "gold": None} for n in range(20)]
    project = make_project(tmp_path, rows)
    add_run(project, "execution", {n: Outcome.CORRECT if n < 8 else Outcome.INCORRECT for n in range(1, 21)})
    async with opened(project, size=size) as (app, pilot):
        form = await form_for(app, pilot, "export")
        await fill(app, file="p.jsonl", format="pairs")
        assert "(DPO)" in str(app.screen.query_one("#option-format Pick", Pick).render())
        await press(pilot, "f4")
        await until(pilot, lambda: not form.is_at_work)
        refused = str(form.query_one(".form-trouble").render()) + str(
            [field.wrong for field in form.query(OptionField)]
        )
        assert "verifier" in refused
        assert not Path("p.jsonl").exists()
        # The error says how to make pairs, and the name is still free.
        await fill(app, verifier="execution")
        await press(pilot, "f4")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert len(Path("p.jsonl").read_text().splitlines()) == 1
        assert "1 of 1 questions make pairs by the verdicts of execution" in shown_text(app)
        assert not FLAG.search(shown_text(app))


def test_data_and_shell_lines_are_not_reformatted() -> None:
    set_front_end(in_app("^p"))
    form = form_of(NAMED["export"])
    printed = "7 beyond --per-question\ncompletion: run it --unsafely\nDo it again: workbench export p.db x --force\n"
    assert form.output_text(printed) == printed.replace("beyond --per-question", "beyond “per-question”")


def shown_text(app: App[None]) -> str:
    """Return the text of the page without line breaks."""
    document = app.screen.query_one(Reader).document
    assert document is not None
    return "\n".join("".join(span.text for span in line.spans) for line in document.lines)


@pytest.mark.soak
async def test_rare_fields_are_shown_on_request(project: Project) -> None:
    async with opened(project, size=(80, 24)) as (app, pilot):
        form = await form_for(app, pilot, "export")
        assert form.form is not None

        def shown() -> list[str]:
            return [field.option for field in form.query(OptionField) if field.display]

        first = ["file", "format", "table", "dataset", "where", "gold", "force"]
        assert shown() == first
        assert "f9: 8 more fields (rarely used):  verifier, names, sighted" in text_of(app, "#verb-later")
        await press(pilot, "f9")
        assert shown() == [*first, *form.form.later]
        assert form.query_one("#option-verifier", OptionField).line.has_focus
        await fill(app, seed="3")
        await press(pilot, "f9")
        assert shown() == [*first, "seed"], "typed text stays visible"
        form.show_error(OptionError("system", "no"))
        assert shown() == [*first, *form.form.later]
        await press(pilot, "escape")
        await form_for(app, pilot, "verify")
        await press(pilot, "f9")


@pytest.mark.soak
async def test_rare_field_is_shown_if_the_form_fills_it_in(project: Project) -> None:
    async with opened(project) as (app, pilot):
        app.open_verb("export", **{"per-question": "2"})
        await settle(pilot)
        form = screen_of(app, VerbScreen)
        await until(pilot, lambda: bool(form.query("#option-per-question")))
        assert form.query_one("#option-per-question", OptionField).display


async def test_enter_completes_names_of_input_files_only(project: Project, tmp_path: Path) -> None:
    for name in ("labels.jsonl", "odd 1.jsonl", "odd 2.jsonl"):
        (tmp_path / name).write_text("")
    async with opened(project) as (app, pilot):
        form = await form_for(app, pilot, "template check")
        assert form.form is not None
        (name,) = form.form.read
        field = form.query_one(f"#option-{name}", OptionField)
        field.line.focus()
        field.value = str(tmp_path / "la")
        await press(pilot, "enter")
        await until(pilot, lambda: field.value == str(tmp_path / "labels.jsonl"))
        assert app.screen is form, "it is not run before it was visible"
        field.value = str(tmp_path / "odd")
        await press(pilot, "enter")
        await until(pilot, lambda: "2 names begin like this. The right arrow key accepts odd 1.jsonl" in field.wrong)
        form = await form_for(app, pilot, "export")
        assert form.form is not None
        assert form.form.read == []
        field = form.query_one("#option-file", OptionField)
        field.value = str(tmp_path / "la")
        await press(pilot, "enter")
        assert field.value == str(tmp_path / "la")


async def test_completion_suggestions_look_unlike_typed_text(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "labels.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    async with opened(project) as (app, pilot):
        form = await form_for(app, pilot, "template check")
        line = form.query_one(f"#option-{form.form.read[0] if form.form else ''}", OptionField).line
        assert isinstance(line, Input)
        line.focus()
        line.value = "la"
        line.cursor_position = 0
        await until(pilot, lambda: bool(line._suggestion))
        drawn = list(line.render_line(0))
        typed, offered = ([one for one in drawn if words in one.text] for words in ("a", "els.jsonl"))
        assert {bool(one.style and one.style.italic) for one in typed if "els" not in one.text} == {False}
        assert {bool(one.style and one.style.italic) for one in offered} == {True}
