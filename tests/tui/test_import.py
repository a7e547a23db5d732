"""A custom file is imported in the app: columns are chosen, and a preview shows the result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot
from textual.widgets import DirectoryTree, Input, Static

from tests.helpers import make_project
from tests.tui.stage import ONE_SIZE, notices, opened, press, screen_of, settle, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.option_field import OptionField, Pick, PickMany
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.accuracy_items import AccuracyItemsScreen
from workbench.app.tui.screens.import_data import FilePicker, ImportScreen, preview_text
from workbench.app.tui.screens.quarantine import QuarantineScreen
from workbench.interchange.importing import plan_import, preview_import

ODD = """\
Prompt text,Expected result,What the model said,Human OK?,Grader says,[red]Notes[/
What is 6 times 7?,42,It is \\boxed{42},yes,correct,easy
What is half of 9?,4.5,It is \\boxed{4},no,correct,
What is 2 to the 10?,1024,\\boxed{1024},NaN,NaN,
Is 91 prime?,No,\\boxed{No},yes,maybe,
"""


def odd(folder: Path) -> Path:
    path = folder / "odd rows.csv"
    path.write_text(ODD)
    return path


def preview(app: App[None]) -> str:
    return str(app.screen.query_one("#import-preview Static", Static).content)


async def look_at(app: WorkbenchApp, pilot: Pilot[None], path: Path) -> ImportScreen:
    app.open_verb("import")
    await settle(pilot)
    screen = screen_of(app, ImportScreen)
    await choose(screen, file=str(path))
    await press(pilot, "enter")
    return screen


async def choose(screen: ImportScreen, **columns: str) -> None:
    for name, column in columns.items():
        screen.query_one(f"#option-{name}", OptionField).value = column


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_odd_columns_are_chosen_and_rejected_rows_are_previewed(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await until(pilot, lambda: "Choose the column of the completion" in preview(app))
        guessed = {name: screen.query_one(f"#option-{name}", OptionField).value for name in ("reference", "gold")}
        assert guessed == {"reference": "Expected result", "gold": "Human OK?"}
        await choose(screen, reference="Expected result", completion="What the model said", gold="Human OK?")
        await choose(screen, verdicts="'Grader says'")
        await until(pilot, lambda: screen.report is not None)
        assert "4 rows read, 4 would be imported" in preview(app)
        assert "1 no words for a verdict ('maybe' 1)" in preview(app)
        assert "kept with the items: [red]Notes[/" in preview(app)
        assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)
        await press(pilot, "ctrl+y", "ctrl+r")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
        assert any("--map 'reference=Expected result'" in text for text in notices(app))
        gold = project.database.reader().execute(
            "SELECT imported_gold, count(*) FROM completions GROUP BY 1 ORDER BY 1"
        )
        assert [tuple(row) for row in gold] == [(None, 1), (0, 1), (1, 2)]
        assert project.database.reader().execute("SELECT name FROM verifiers").fetchall() == [("Grader-says",)]


@pytest.mark.soak
async def test_equal_samples_are_kept_on_request(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    file = tmp_path / "samples.csv"
    file.write_text("question,answer,completion\n" + "1+1?,2,It is 2.\n" * 3)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, file)
        await until(pilot, lambda: "1 would be imported, 2 unchanged" in preview(app))
        await choose(screen, **{"keep-equal": "yes"})
        await until(pilot, lambda: "3 rows read, 3 would be imported" in preview(app))
        await press(pilot, "ctrl+y", "ctrl+r")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
        assert any("--keep-equal" in text for text in notices(app))
    assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (3,)


async def test_missing_files_and_columns_are_reported_and_nothing_is_written(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, tmp_path / "nothing.csv")
        await until(pilot, lambda: "nothing.csv" in str(screen.query_one(".form-trouble", Static).content))
        await choose(screen, file=str(odd(tmp_path)))
        await press(pilot, "enter")
        await until(pilot, lambda: screen.values().get("reference") == "Expected result")
        await choose(screen, completion="Expected result")
        await until(pilot, lambda: "Choose the column of the reference" in preview(app))
        assert screen.values()["reference"] == "", "a column belongs to the field it was chosen for last"
        await press(pilot, "ctrl+r")
        assert isinstance(app.screen, ImportScreen)
        assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)


async def test_only_the_file_named_in_the_field_is_imported(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text("question,answer,completion\n" + "2+2?,4,It is 4.\n")
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await choose(screen, file=str(other))
        await press(pilot, "f4")
        await until(pilot, lambda: "1 row read, 1 would be imported" in preview(app))
        assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (0,)
        await choose(screen, file=f"{other}x")
        await press(pilot, "f4")
        await until(pilot, lambda: "other.csvx" in trouble(app))
        await choose(screen, file=str(other))
        await press(pilot, "f4")
        await until(pilot, lambda: "1 row read, 1 would be imported" in preview(app))
        await press(pilot, "f4")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
    assert project.database.reader().execute("SELECT count(*) FROM completions").fetchone() == (1,)


@pytest.mark.parametrize("key", ["f4", "tab"])
async def test_typed_file_is_read_without_enter(tmp_path: Path, key: str) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        app.open_verb("import")
        await settle(pilot)
        await press(pilot, "enter")
        screen = screen_of(app, ImportScreen)
        field = screen.query_one("#option-file", OptionField)
        await until(pilot, lambda: field.wrong == "Name a file.")
        await choose(screen, file=str(odd(tmp_path)))
        if key == "f4":
            # Pressed twice, before the file is read.
            screen.action_run()
        await press(pilot, key)
        await until(pilot, lambda: screen.values().get("reference") == "Expected result")
        assert field.wrong == ""


@pytest.mark.soak
async def test_enter_completes_a_unique_name_and_stays_in_the_field(tmp_path: Path) -> None:
    file = odd(tmp_path)
    (tmp_path / "deep").mkdir()
    async with opened(make_project(tmp_path)) as (app, pilot):
        screen = await look_at(app, pilot, tmp_path / "od")
        await until(pilot, lambda: bool(screen.query("#option-completion")))
        field = screen.query_one("#option-file", OptionField)
        assert field.value == str(file)
        field.line.focus()
        await choose(screen, file=str(tmp_path / "dee"))
        await press(pilot, "enter")
        assert field.value == f"{tmp_path / 'deep'}/", "a folder: the name of the file is next"
        assert app.focused is field.line
        (tmp_path / "odd too.csv").write_text(ODD)
        await choose(screen, file=str(tmp_path / "od"))
        for _ in range(2):
            await press(pilot, "enter")
            await until(
                pilot, lambda: "2 names begin like this. The right arrow key accepts odd rows.csv" in field.wrong
            )
            assert field.value == str(tmp_path / "od")
            assert app.focused is field.line
        for wrong in ("none.csv", "a" * 300):
            await choose(screen, file=str(tmp_path / wrong))
            for _ in range(2):
                await press(pilot, "enter")
                await until(pilot, lambda: "a" in str(screen.query_one(".form-trouble", Static).content))
                assert app.focused is field.line
        await choose(screen, file="")
        await press(pilot, "enter")
        assert field.wrong == "Name a file."
        assert app.focused is field.line


async def test_reopened_form_keeps_its_file_and_detects_the_columns_anew(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text(ODD)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await until(pilot, lambda: bool(screen.query("#option-completion")))
        detected = screen.values()
        await choose(screen, reference="Prompt text", completion="What the model said", verdicts="")
        await choose(screen, dataset="mine", format="csv")
        await press(pilot, "escape")
        app.open_verb("import")
        again = screen_of(app, ImportScreen)
        await until(pilot, lambda: "Choose the column of the completion" in preview(app))
        values = again.values()
        assert values == {**detected, "file": str(odd(tmp_path)), "dataset": "mine", "format": "csv"}
        assert app.focused is again._field("file").line
        await press(pilot, *"mine")
        assert again.values() == {**values, "file": "mine"}, "another file is typed"
        await choose(again, file=str(other))
        again._field("file").line.focus()
        await press(pilot, "enter")
        await until(pilot, lambda: "Choose the column of the completion" in preview(app))
        assert again.values() == {**detected, "file": str(other)}
        await choose(again, completion="What the model said")
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
        app.open_verb("import")
        await settle(pilot)
        assert screen_of(app, ImportScreen).values() == {"file": ""}


@pytest.mark.soak
async def test_cycling_columns_of_a_field_restores_those_of_others(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await until(pilot, lambda: screen.values().get("reference") == "Expected result")
        before = screen.values()
        screen.query_one("#option-domain", OptionField).line.focus()
        seen = set()
        for _ in ODD.splitlines()[0].split(","):
            await press(pilot, "right")
            now = screen.values()
            seen.add(now["domain"])
            kept_columns = {name: column for name, column in now.items() if name in ("reference", "gold") and column}
            assert now["domain"] not in kept_columns.values()
            assert len(kept_columns) == 2 - (now["domain"] in (before["reference"], before["gold"]))
        assert {before["reference"], before["gold"]} <= seen
        await press(pilot, *["left"] * len(seen))
        assert screen.values() == before


@pytest.mark.soak
async def test_gold_column_of_answers_is_suggested_as_reference(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("prompt,gold,model_output\nWhat is 2+2?,4,It is 4\nIs 7 prime?,yes,It is\nWhat is 3+5?,8,\n")
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        values = screen.values()
        assert (values["reference"], values["gold"]) == ("gold", "")
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
    found = project.database.reader().execute("SELECT reference FROM question_text ORDER BY id").fetchall()
    assert found == [("4",), ("yes",), ("8",)]


async def test_missing_value_is_reported_at_its_field(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await until(pilot, lambda: bool(screen.query("#option-completion")))
        await press(pilot, "ctrl+r")
        assert screen.query_one("#option-completion", OptionField).wrong == "Choose the column of the completion."


async def test_file_is_picked_from_a_tree_that_starts_at_the_project(tmp_path: Path) -> None:
    path = odd(tmp_path)
    async with opened(make_project(tmp_path)) as (app, pilot):
        app.open_verb("import")
        await settle(pilot)
        screen = screen_of(app, ImportScreen)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, FilePicker))
        picker: object = app.screen
        assert isinstance(picker, FilePicker)
        await until(pilot, lambda: path.name in names(picker))
        await pilot.press(*["down"] * names(picker).index(path.name), "enter")
        await until(pilot, lambda: screen.look is not None)
        assert screen.query_one("#option-file", OptionField).value == str(path)


async def test_picker_starts_at_the_first_entry_of_a_folder(tmp_path: Path) -> None:
    path = odd(tmp_path)
    (tmp_path / "a folder").mkdir()
    async with opened(make_project(tmp_path)) as (app, pilot):
        app.open_verb("import")
        await settle(pilot)
        screen_of(app, ImportScreen)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, FilePicker))
        picker: object = app.screen
        assert isinstance(picker, FilePicker)
        tree = picker.query_one(DirectoryTree)
        await until(pilot, lambda: path.name in names(picker))
        assert tree.cursor_node is not None
        assert str(tree.cursor_node.label) == names(picker)[0]
        await pilot.press("left")
        await until(pilot, lambda: tmp_path.name in names(picker))
        await until(pilot, lambda: tree.cursor_node is not None and str(tree.cursor_node.label) == tmp_path.name)


def names(picker: FilePicker) -> list[str]:
    return [str(node.label) for node in picker.query_one(DirectoryTree).root.children]


OWN = """\
prompt_id,Prompt,Expected,Model Output,topic,human_ok,grader_v1,latency
1,What is 6 times 7?,42,It is 42,arithmetic,yes,right,1.5
2,What is half of 9?,4.5,It is 4,fractions,no,NaN,2
"""


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_custom_columns_are_guessed_and_fields_are_not_verifiers(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    async with opened(make_project(tmp_path), size=size) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        options = screen.options()
        assert set(options.maps) == {"reference=Expected", "gold=human_ok"}
        assert options.verdicts == ("grader_v1=grader_v1",)
        verdicts = screen.query_one("#option-verdicts", OptionField).line
        assert isinstance(verdicts, PickMany)
        assert str(verdicts.render()) == "1 selected of 2  grader_v1  (human_ok is gold)"
        named = screen.query_one("#option-dataset", OptionField).line
        assert isinstance(named, Input)
        assert named.placeholder == "not set: its name will be own"
        await choose(screen, gold="", subtype="topic")
        await until(
            pilot, lambda: "2 of 2 values of topic are not answer types (arithmetic, fractions)" in preview(app)
        )
        assert str(verdicts.render()) == "2 selected of 3  human_ok, grader_v1"


async def test_columns_are_guessed_by_their_values_and_shown_with_them(tmp_path: Path) -> None:
    path = tmp_path / "evals.csv"
    kinds = ("C4 - Finite state selection", "B4 - Set", "Integer")
    rows = [f"e{n},Q{n}?,{n},It is {n},m-{n % 2},the {n % 2} domain,{kinds[n % 3]},{n % 4}" for n in range(12)]
    path.write_text("\n".join(["id,Prompt,Expected,Response,llm,domain of task,kind,option", *rows]))
    async with opened(make_project(tmp_path)) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        chosen = {
            name: screen.query_one(f"#option-{name}", OptionField).value for name in ("subtype", "domain", "model")
        }
        assert chosen == {"subtype": "kind", "domain": "domain of task", "model": "llm"}
        shown = screen.query_one("#option-subtype", OptionField).line
        assert isinstance(shown, Pick)
        assert "kind: C4 - Finite state select · B4 - Set" in str(shown.render())
        await press(pilot, "ctrl+r")
    read = app.project.database.reader()
    assert read.execute("SELECT subtype, count(*) FROM questions GROUP BY 1").fetchall() == [
        ("A1", 4),
        ("B4", 4),
        ("C4", 4),
    ]


async def test_rejected_rows_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "twice.csv"
    rows = ["What [b]is[/b] it?,4,It is 4,Integer", "What [b]is[/b] it?,4,It is 4,B4 - Set", "Other?,5,It is 5,Integer"]
    path.write_text("\n".join(["question,reference,completion,subtype", *rows]))
    async with opened(make_project(tmp_path, [])) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        assert "! line 3, whole: 'What [b]is[/b] it?' has another type, subtype or source than" in preview(app)
        assert "of the same question and reference answer in this file" in preview(app)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: app.screen is not screen)
        await press(pilot, *":x", "enter")
        listed = screen_of(app, QuarantineScreen)
        await until(pilot, lambda: bool(listed.records))
        (row,) = listed.records
        assert (row.file, row.line, row.field, row.code) == ("twice.csv", 3, "type", "duplicate_key")
        assert row.text.startswith("What [b]is[/b] it?,4")
        assert "has another type and subtype than" in str(listed.query_one("#quarantine-detail Static", Static).content)


@pytest.mark.soak
async def test_arrows_move_between_fields(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    async with opened(make_project(tmp_path)) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        fields = list(screen.query(OptionField))
        before = [field.value for field in fields]
        fields[0].line.focus()
        for field in [*fields[1:], fields[-1]]:
            await press(pilot, "down")
            assert screen.focused is field.line
        await press(pilot, "up")
        assert screen.focused is fields[-2].line
        assert [field.value for field in fields] == before


@pytest.mark.soak
async def test_file_that_is_not_a_table_is_reported_at_its_field(tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("hello\nthis is no table\n")
    picture = tmp_path / "picture.png"
    picture.write_bytes(bytes.fromhex("89504e470d0a1a0a0000000d49484452000000") + b"\xff" * 50)
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, notes)
        file = screen.query_one("#option-file", OptionField)
        await until(pilot, lambda: "The one column of the file is 'hello'" in file.wrong)
        assert app.focused is file.line
        await look_again(screen, pilot, picture)
        await until(pilot, lambda: "it is not text" in trouble(app))
        await look_again(screen, pilot, project.path)
        await until(pilot, lambda: "belongs to the project that is open" in trouble(app))
        await look_again(screen, pilot, odd(tmp_path))
        await until(pilot, lambda: "Choose the column of the completion" in preview(app))


async def look_again(screen: ImportScreen, pilot: Pilot[None], path: Path) -> None:
    await choose(screen, file=str(path))
    await press(pilot, "enter")


def trouble(app: App[None]) -> str:
    return str(app.screen.query_one(".form-trouble", Static).content)


def test_preview_of_problems_names_each_part(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    row = {"task_id": "p/1", "prompt": "def f(): ...", "entry_point": "f", "tests": ["assert f() == 1"]}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    found = preview_import(None, plan_import([path]))
    (shown,) = found.first or []
    assert (shown.entry_point, shown.tests, shown.reference) == ("f", {"base": 1}, "")
    text = "1: question def f(): ... │ reference  │ entry point f │ tests base 1"
    assert text in str(preview_text(found))


@pytest.mark.soak
async def test_picked_file_that_is_not_a_table_clears_the_columns(tmp_path: Path) -> None:
    notes, rows = tmp_path / "notes.txt", odd(tmp_path)
    notes.write_text("hello\nthis is no table\n")
    async with opened(make_project(tmp_path)) as (app, pilot):
        screen = await look_at(app, pilot, rows)
        await until(pilot, lambda: "Choose the column of the completion" in preview(app))
        await pick(app, pilot, notes)
        file = screen.query_one("#option-file", OptionField)
        await until(pilot, lambda: "The one column of the file is 'hello'" in file.wrong)
        await settle(pilot)
        assert "The one column of the file is 'hello'" in file.wrong
        assert [field.option for field in screen.query(OptionField)] == ["file"]
        message = file.query_one(".about", Static)
        assert str(message.content).startswith("! The one column of the file")
        assert message.region.height > 0, "it is visible"
        assert message.region.bottom <= screen.query_one("#import-fields").region.bottom


async def test_choices_of_the_previous_file_do_not_come_back(tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("question,completion,remark\nOne?,1,x\nTwo?,2,y\n")
    async with opened(make_project(tmp_path)) as (app, pilot):
        screen = await look_at(app, pilot, odd(tmp_path))
        await until(pilot, lambda: screen.values().get("reference") == "Expected result")
        await choose(screen, domain="Expected result")
        await pick(app, pilot, other)
        await until(pilot, lambda: "remark" in str(screen.look))
        await choose(screen, domain="remark")
        await settle(pilot)
        assert screen.values()["reference"] == ""


async def test_picker_hides_databases_and_their_files(tmp_path: Path) -> None:
    for name in ("p.db.runner.lock", "p.db.runner.log", "p.db.app.log", "p.db-wal", "lock.csv"):
        (tmp_path / name).touch()
    (tmp_path / "p.db.columns").mkdir()
    async with opened(make_project(tmp_path)) as (app, pilot):
        app.open_verb("import")
        await settle(pilot)
        await pilot.press("f2")
        await until(pilot, lambda: isinstance(app.screen, FilePicker))
        picker: object = app.screen
        assert isinstance(picker, FilePicker)
        await until(pilot, lambda: "lock.csv" in names(picker))
        assert names(picker) == ["lock.csv"]


async def pick(app: WorkbenchApp, pilot: Pilot[None], path: Path) -> None:
    await pilot.press("f2")
    await until(pilot, lambda: isinstance(app.screen, FilePicker))
    picker: object = app.screen
    assert isinstance(picker, FilePicker)
    await until(pilot, lambda: path.name in names(picker))
    await pilot.press(*["down"] * names(picker).index(path.name), "enter")


SWAPPED = "\n".join(
    [
        "id,question,answer,completion,answer_type,answer_subtype",
        *(f"row-{n},Q{n}?,{n},It is {n},{kind},{kind[0]} - Any" for n in range(9) for kind in (f"A{n % 3 + 1} - Any",)),
    ]
)


@pytest.mark.soak
@pytest.mark.parametrize("size", ONE_SIZE)
async def test_swapped_types_are_shown_as_imported_and_reported(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "swapped.csv"
    path.write_text(SWAPPED)
    async with opened(make_project(tmp_path), size=size) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        fields = {name: screen.query_one(f"#option-{name}", OptionField) for name in ("type", "subtype")}
        assert [fields[name].value for name in fields] == ["answer_subtype", "answer_type"]
        assert "The two type fields were swapped" in preview(app)
        await choose(screen, type="", subtype="answer_type")
        await until(pilot, lambda: "would be imported" in preview(app) and "were swapped" not in preview(app))
        await choose(screen, completion_id="id")
        await until(pilot, lambda: "kept with the items: answer_subtype" in preview(app))
        await press(pilot, "ctrl+r")
    read = app.project.database.reader()
    kinds = [(f"A{n}", 3) for n in (1, 2, 3)]
    assert read.execute("SELECT subtype, count(*) FROM questions GROUP BY 1").fetchall() == kinds
    keys = [f"row-{n}" for n in range(9)]
    assert [key for (key,) in read.execute("SELECT key FROM completions ORDER BY key")] == keys


async def test_preview_can_be_read_to_its_end_by_keys(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    long = "as long as can be " * 9
    rows = [f"Q{n} {long}?,{n} {long},It is {n} {long},{n % 2}" for n in range(20)]
    path.write_text("\n".join(["question,answer,completion,gold", *rows]))
    async with opened(make_project(tmp_path), size=(80, 24)) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        await settle(pilot)
        box = screen.query_one("#import-preview")
        assert box.max_scroll_y > 0
        focused = screen.focused
        for _ in range(9):
            await press(pilot, "pagedown")
        assert (box.scroll_y, screen.focused) == (box.max_scroll_y, focused)
        for _ in range(9):
            await press(pilot, "pageup")
        assert box.scroll_y == 0


def newcomers(folder: Path) -> Path:
    """Create 60 graded answers, 40 of them right; the grader is wrong on every sixth."""
    path = folder / "newcomer.csv"
    rows = ["question,answer,response,gold,is_correct"]
    for n in range(60):
        right = n % 3 > 0
        rows.append(f"What is {n} + {n}?,{2 * n},It is {2 * n if right else 2 * n + 1}.,{right},{right is (n % 6 > 0)}")
    path.write_text("\n".join(rows))
    return path


async def test_grader_errors_of_a_new_file_are_found_by_keys(tmp_path: Path) -> None:
    path = newcomers(tmp_path)
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, "1")
        screen = screen_of(app, ImportScreen)
        await press(pilot, *str(path), "enter")
        await until(pilot, lambda: screen.report is not None)
        assert "Gold: the column 'gold'." in preview(app)
        assert "Verdicts of is_correct in is_correct: " in preview(app)
        await press(pilot, "f4")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
        await press(pilot, *":y", "enter")
        accuracy = screen_of(app, AccuracyScreen)
        await until(pilot, lambda: accuracy.report is not None)
        assert accuracy.report is not None
        (row,) = [row for row in accuracy.report.rows if row.verifier == "is_correct" and row.group is None]
        assert (row.n, row.accuracy) == (60, 50 / 60)
        await press(pilot, "i", "w")
        items = screen_of(app, AccuracyItemsScreen)
        assert items.items is not None
        assert (items.which, len(items.items.ids(items.which)), items.items.wrong) == ("wrong", 10, 10)
    golds = project.database.reader().execute("SELECT imported_gold, count(*) FROM completions GROUP BY 1 ORDER BY 1")
    assert [tuple(one) for one in golds] == [(0, 20), (1, 40)]


@pytest.mark.few(2)
@pytest.mark.parametrize("header", ["question,gold,response,is_correct", "question,answer,response,is_correct"])
async def test_verdict_column_is_a_verifier_or_gold_but_never_both(tmp_path: Path, header: str) -> None:
    path = tmp_path / "graded.csv"
    path.write_text(header + "\n" + "".join(f"{n}+1?,{n + 1},It is 2,{n == 1}\n" for n in range(4)))
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        assert (screen.values()["gold"], screen.options().verdicts) == ("", ("is_correct=is_correct",))
        assert "Gold: none" in preview(app)
        await choose(screen, gold="is_correct")
        await until(pilot, lambda: "Gold: the column 'is_correct'." in preview(app))
        assert screen.options().verdicts == ()
        await choose(screen, gold="")
        await until(pilot, lambda: "Gold: none" in preview(app))
        await press(pilot, "f4")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
    read = project.database.reader()
    assert read.execute("SELECT count(imported_gold), count(*) FROM completions").fetchone() == (0, 4)
    assert read.execute("SELECT name FROM verifiers").fetchall() == [("is_correct",)]


@pytest.mark.soak
async def test_label_column_is_not_gold_if_none_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "graded.csv"
    path.write_text("question,gold,response,label\n" + "".join(f"{n}+1?,{n + 1},It is 2,{n == 1}\n" for n in range(4)))
    project = make_project(tmp_path)
    async with opened(project) as (app, pilot):
        screen = await look_at(app, pilot, path)
        await until(pilot, lambda: screen.report is not None)
        await choose(screen, reference="gold", gold="", verdicts="label")
        await until(pilot, lambda: screen.report is not None and "Gold: none" in preview(app))
        await press(pilot, "f4")
        await until(pilot, lambda: not isinstance(app.screen, ImportScreen))
    read = project.database.reader()
    assert read.execute("SELECT count(imported_gold), count(*) FROM completions").fetchone() == (0, 4)
    assert read.execute("SELECT name FROM verifiers").fetchall() == [("label",)]
