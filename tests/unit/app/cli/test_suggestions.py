"""Opening the app without arguments, misspelt names, and messages on failure."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from textual.widgets import Input, OptionList, Static

from tests.commands import Call, in_process
from tests.helpers import make_project, numbered
from workbench.app.cli import opening
from workbench.app.tui.start import Beginning, StartApp, here
from workbench.app.verbs import COMMANDS
from workbench.config.file import FOLDER_VARIABLE
from workbench.config.settings import RecentProject, recent_projects, remember_project
from workbench.core.errors import UsageError
from workbench.core.options import TableForm
from workbench.core.project import Project, open_project, opened_project
from workbench.core.verdict import Outcome, Verdict
from workbench.interchange.exporting import format_of
from workbench.labelling.people import add_annotators
from workbench.measuring.accuracy import accuracy
from workbench.measuring.accuracy_tables import accuracy_as
from workbench.runs.run_status import delete
from workbench.runs.store import runs, verdicts


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    return in_process(monkeypatch, capfd)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "own"))


@pytest.fixture
def database(tmp_path: Path) -> str:
    project = make_project(tmp_path, numbered(4))
    project.close()
    return str(project.path)


# Opening


def test_the_most_recent_project_is_listed_first(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.db" for name in "abc"]
    for path in paths:
        path.touch()
        remember_project(path, None)
    remember_project(paths[0], "amira")
    assert recent_projects() == [
        RecentProject(str(paths[0]), "amira"),
        RecentProject(str(paths[2])),
        RecentProject(str(paths[1])),
        RecentProject(str(paths[0])),
    ], "the coordinator's own entry stays"
    paths[0].unlink()
    assert recent_projects()[0] == RecentProject(str(paths[0]), "amira")


def test_a_project_opened_under_a_name_is_remembered_with_it(monkeypatch: pytest.MonkeyPatch, database: str) -> None:
    with opened_project(database) as project:
        add_annotators(project, ["amira"])
    monkeypatch.setattr(opening, "_run_app", lambda *_: None)
    monkeypatch.setattr("sys.stdin", Mock(isatty=lambda: True))
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: True))
    opening.open_command.main([database, "--as", "amira"], standalone_mode=False)
    assert recent_projects() == [RecentProject(database, "amira")]


@pytest.mark.parametrize("content", ["", "{", '{"a": 1}', '[{"path": 3}]', "\x00", "[" * 100_000])
def test_a_broken_list_of_projects_is_ignored(tmp_path: Path, content: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "recent.json").write_text(content)
    assert recent_projects() == []
    (tmp_path / "a.db").touch()
    remember_project(tmp_path / "a.db", None)
    assert len(recent_projects()) == 1


def test_an_unwritable_list_of_projects_is_harmless(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("no folder")
    (tmp_path / "a.db").touch()
    remember_project(tmp_path / "a.db", None)
    assert recent_projects() == []


@pytest.mark.parametrize("arguments", [["p.db"], ["./p.db", "--at", "runs"], ["nothing.sqlite"], ["folder/p"]])
def test_a_file_in_a_command_s_place_is_opened(call: Call, arguments: list[str]) -> None:
    code, out, error = call(*arguments)
    assert (code, out) == (2, "")
    assert "The app needs a terminal" in error


# Names that are nearly right

NEARLY = {
    "a command": (["verfy", "DB"], "'verify'"),
    "a command in capitals": (["Import", "DB"], "'import'"),
    "a command of a group": (["curate", "DB", "duplicats"], "'duplicates'"),
    "an option": (["export", "DB", "x", "--fromat", "csv"], "'--format'"),
    "a format": (["export", "DB", "x", "--format", "parqet"], "'parquet'"),
    "a protocol": (["accuracy", "DB", "--protocol", "forcd"], "'forced'"),
    "a verb": (["runs", "DB", "resme", "1"], "'resume'"),
    "a verifier": (["verify", "DB", "rulse"], "'rules'"),
    "an option of a verifier": (["verify", "DB", "llm-judge", "-o", "modle=x"], "'model'"),
    "a verifier's verdicts": (["verdicts", "DB", "--verifier", "exat"], "'exact'"),
    "a field": (["export", "DB", "x.csv", "--where", "subtyp=A1"], "'subtype'"),
    "a verifier's figures": (["accuracy", "DB", "--verifier", "exat"], "'exact'"),
    "what figures are broken down by": (["accuracy", "DB", "--by", "type,subtpe"], "'subtype'"),
    "what there is help for": (["help", "peopel"], "'people'"),
    "a data set": (["export", "DB", "x.csv", "--dataset", "sampel"], "'sample'"),
}


@pytest.mark.parametrize("name", NEARLY)
def test_a_misspelt_name_gets_a_suggestion(call: Call, database: str, name: str) -> None:
    arguments, meant = NEARLY[name]
    if name in ("a verifier's verdicts", "a verifier's figures"):
        _with_run(database)
    code, out, error = call(*(database if word == "DB" else word for word in arguments))
    assert (code, out) == (2, "")
    assert f"Did you mean {meant}" in error


def test_help_fits_a_terminal_and_names_every_command(call: Call) -> None:
    said = call("--help")[1]
    assert len(said.splitlines()) < 24
    assert said.startswith("Usage: ")
    assert set(COMMANDS) <= set(said.split())
    assert all(len(line) <= 80 for line in said.splitlines())


def test_help_has_a_line_for_each_command(call: Call) -> None:
    said = call("help")[1].splitlines()
    assert [line.split()[0] for line in said if line.startswith(" ")] == list(COMMANDS)
    assert all(len(line) <= 80 for line in said)
    of_two = "".join(call("help", group)[1] for group in ("data", "people"))
    assert of_two.splitlines() == said[: said.index("Verifiers:")]
    assert call("help", "status")[1] == call("status", "--help")[1]
    assert "passk" in call("help", "code")[1]


def test_no_help_depends_on_a_database(call: Call) -> None:
    said = call("verify", "--help")[1]
    assert "--limit INTEGER RANGE     Maximum number of items; the first ones are used.\n" + " " * 28 + "[x>=1]" in said
    assert "9223372036854775807" not in said
    assert "too large" in call("verify", "p.db", "--limit", 2**63)[2]


def test_an_unrelated_name_gets_no_suggestion(call: Call, database: str) -> None:
    for arguments in (["xyzzy"], ["export", database, "x", "--format", "qqq"], ["verify", database, "xyzzy"]):
        code, _, error = call(*arguments)
        assert code == 2
        assert "Did you mean" not in error


def test_only_an_unknown_name_gets_a_suggestion() -> None:
    assert str(UsageError("No 'rules'.", "Known: rules, rule.")) == "No 'rules'. Known: rules, rule."
    assert "'code'" in UsageError("No 'cod'.", "Parsers: code, b; without @ the newest.").hint
    assert UsageError("No 'cod'.", "There are: none yet.").hint == "There are: none yet."


# Formats by name


@pytest.mark.parametrize(
    ("name", "found"),
    [("a.csv", "csv"), ("a.CSV.gz", "csv"), ("out.parquet", "parquet"), ("a.b.db", "workbench")],
)
def test_the_file_extension_selects_the_format(name: str, found: str) -> None:
    assert format_of(Path(name)) == found


@pytest.mark.parametrize(
    ("name", "said"), [("a.jsonl", "sft"), ("a.json.gz", "argilla"), ("a", "csv"), ("-", "csv"), ("a.zip", ".db")]
)
def test_an_ambiguous_extension_lists_the_formats(name: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        format_of(Path(name))
    assert said in caught.value.hint


def test_a_table_s_name_is_read_for_formats_that_the_table_has(call: Call, database: str, tmp_path: Path) -> None:
    for table in ("labels", "verdicts"):
        with pytest.raises(UsageError) as caught:
            format_of(Path("x.json"), table)
        assert caught.value.hint == "Name one with --format: jsonl, csv, parquet."
    assert call("verify", database, "rules")[0] == 0
    assert call("export", database, str(tmp_path / "v.csv"), "--table", "verdicts")[0] == 0
    assert call("export", database, str(tmp_path / "v.jsonl"), "--table", "verdicts")[0] == 0
    with (tmp_path / "v.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    written = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text().splitlines()]
    assert rows
    assert [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in written] == rows


def test_export_heeds_the_name(call: Call, database: str, tmp_path: Path) -> None:
    assert call("export", database, str(tmp_path / "x.csv"))[0] == 0
    assert (tmp_path / "x.csv").read_text().startswith("dataset,")
    code, _, error = call("export", database, str(tmp_path / "x.jsonl"))
    assert code == 2
    assert "--format verifybench" in error


# Why nothing came of it


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--per-item", "1", "--where", "model=none-such"], "model"),
        (["--per-item", "2"], "Each of 4 items has its 2 slots already"),
    ],
)
def test_assign_explains_why_it_opened_no_slot(call: Call, database: str, arguments: list[str], said: str) -> None:
    team = ["--annotators", "amira,ben"]
    assert "8 slots opened" in call("assign", database, *team)[1]
    code, out, error = call("assign", database, *team, *arguments)
    assert said in out + error
    assert "0 slots opened" not in out
    assert code in (0, 2)


def test_assign_reports_missing_items(call: Call, tmp_path: Path) -> None:
    make_project(tmp_path).close()
    out = call("assign", str(tmp_path / "p.db"), "--annotators", "a,b")[1]
    assert "No slot was opened. There are no items yet" in out


@pytest.mark.parametrize(
    ("name", "content"), [("e.jsonl", ""), ("e.jsonl", "\n\n"), ("e.json", "[]"), ("e.csv", "a,b\n")]
)
def test_an_empty_import_is_reported(call: Call, tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    _, out, error = call("import", str(tmp_path / "new.db"), str(tmp_path / name))
    assert "o row" in out + error or "no rows" in out + error or "empty" in out + error


# Deleting runs


def _with_run(database: str, names: tuple[str, ...] = ("exact",)) -> None:
    project = open_project(database)
    with project.database.write() as connection:
        for name in names:
            verifier = runs.verifier_named(connection, name)
            number = (
                verifier.id
                if verifier
                else runs.add_verifier(connection, name=name, kind="exact", options={}, config={}, config_hash=name)
            )
            run = runs.add(connection, number, str(runs.every(connection)))
            verdicts.put(connection, run, [(n, Verdict(outcome=Outcome.CORRECT, rule="x")) for n in (1, 2, 3)])
            runs.complete(connection, run, 3)
    project.close()


def test_a_deleted_run_has_gone_with_all_that_hung_on_it(call: Call, database: str) -> None:
    _with_run(database, ("exact", "exact", "other"))
    code, out, error = call("runs", database, "delete", "2")
    assert (code, out) == (2, "")
    assert "3 verdicts" in error
    assert "can't be undone" in error
    assert "--yes" in error
    code, out, error = call("runs", database, "delete", "2", "--yes")
    assert code == 0
    assert "Metrics of exact now come from run 1" in error
    assert "has no complete run any more" in call("runs", database, "delete", "3", "--yes")[2]
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT DISTINCT run_id FROM verdicts").fetchall() == [(1,)]
        assert connection.execute("SELECT DISTINCT run_id FROM verdict_evidence").fetchall() == [(1,)]
        assert connection.execute("SELECT name FROM verifiers").fetchall() == [("exact",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    assert call("runs", database, "delete", "2", "--yes")[0] == 2


KEEPS: dict[str, tuple[Callable[[sqlite3.Connection], object], str]] = {
    "at work": (lambda db: db.execute("UPDATE runs SET state = 'queued'"), "is active"),
    "a frozen set": (
        lambda db: db.executescript(
            "INSERT INTO sets VALUES (1, 'hard', 1, 'hard', 0, '{}', '{}', NULL, NULL, '1', x'00', 'now');"
            "INSERT INTO set_runs VALUES (1, 1);"
        ),
        "hard@1",
    ),
    "decisions": (
        lambda db: db.executescript(
            "INSERT INTO annotators (id, name, created_at) VALUES (1, 'r', 'now');"
            "INSERT INTO reviews (uuid, kind, completion_id, run_id, category, reviewer_id, created_at) "
            "VALUES ('x', 'error', 1, 1, 'other', 1, 'now');"
        ),
        "decisions of reviewers",
    ),
}


@pytest.mark.parametrize("name", KEEPS)
def test_a_run_that_something_rests_on_stays(call: Call, database: str, name: str) -> None:
    do, said = KEEPS[name]
    _with_run(database)
    with sqlite3.connect(database) as connection:
        do(connection)
    connection.close()
    code, _, error = call("runs", database, "delete", "1", "--yes")
    assert code == 1
    assert said in error
    assert "3" in call("runs", database)[1]


def test_metrics_ignore_a_deleted_run(tmp_path: Path) -> None:
    """Columns that are kept in memory hear of it."""
    project: Project = make_project(tmp_path, numbered(4))
    _with_run(str(project.path), ("exact", "other"))
    assert "exact" in accuracy_as(accuracy(project), TableForm())
    delete(project, 1)
    assert "exact" not in accuracy_as(accuracy(project), TableForm())
    assert "other" in accuracy_as(accuracy(project), TableForm())
    project.close()


async def test_the_start_screen_lists_databases_and_missing_ones(tmp_path: Path) -> None:
    known = [RecentProject(str(tmp_path / "gone.db")), RecentProject(str(tmp_path / "b.db"), "amira")]
    for name in ("a.db", "b.db", "[red]c.db", "no.txt"):
        (tmp_path / name).touch()
    choices = [*known, *here(tmp_path, known)]
    assert [Path(opened.path).name for opened in choices] == ["gone.db", "b.db", "[red]c.db", "a.db", "b.db"]
    assert choices[-1] == RecentProject(str(tmp_path / "b.db")), "the coordinator's, too"
    app = StartApp(choices, "demo.db")
    async with app.run_test(size=(80, 24)) as pilot:
        new, demo, *_, last = app.query_one(OptionList).options
        assert (new.id, demo.id) == ("new", "demo")
        assert str(last.prompt).endswith("(missing)")
        assert last.disabled
        await pilot.press("question_mark")
        assert "enter open" in str(app.query_one("#start-keys", Static).content)
        (told,) = (notice.message for notice in app._notifications)
        assert "q ^q  Leave the app." in told
        assert "question_mark" not in told
        await pilot.press("enter")
    assert app.return_value == Beginning(choices[1].path, "amira")


@pytest.mark.few(4)
@pytest.mark.parametrize("many", [0, 1, 3, 40])
async def test_the_error_of_a_new_project_is_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").touch()
    for number in range(many):
        (tmp_path / f"{number}.db").touch()
    app = StartApp(here(tmp_path, []), "demo.db")
    async with app.run_test(size=(80, 24)) as pilot:
        menu = app.query_one(OptionList)
        assert [one.id for one in menu.options[:2]] == ["new", "demo"], "they stay where they are"
        menu.highlighted = 0
        await pilot.press("enter")
        for name, said in {"/nowhere/x.db": "no such folder", "rows.jsonl": "already", "": "name"}.items():
            app.query_one(Input).value = name
            await pilot.press("enter")
            told = app.query_one("#start-wrong", Static)
            assert said in str(told.content)
            assert told.display
            assert told.region.bottom <= app.query_one("#start-keys").region.y
            assert app.screen.max_scroll_y == 0
        await pilot.press("a")
        assert not app.query_one("#start-wrong").display, "it was said of another name"
        await pilot.press("escape")
        assert menu.region.bottom <= app.query_one("#start-keys").region.y


async def test_a_new_project_gets_a_name_that_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "project.db").touch()
    app = StartApp([], "demo.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        assert app.query_one(Input).value == "project-2.db"
        app.query_one(Input).value = "project.db"
        await pilot.press("enter")
        assert str(app.query_one("#start-keys", Static).content) == "enter make it   esc back"
        assert "already" in str(app.query_one("#start-wrong", Static).content)
        app.query_one(Input).value = "mine"
        await pilot.press("enter")
    assert app.return_value == Beginning("mine.db", None, "new")
    app = StartApp([], "demo.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("enter")
        app.query_one(Input).value = "project.db"
        await pilot.press("enter", "enter")
    assert app.return_value == Beginning("project.db"), "one that is there is opened when it is asked for twice"
    app = StartApp([], "demo.db")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end", "enter")
    assert app.return_value == Beginning("demo.db", None, "demo")


async def test_escape_goes_back_to_the_project_that_was_left(tmp_path: Path) -> None:
    left = RecentProject(str(tmp_path / "b.db"), "amira")
    app = StartApp([RecentProject(str(tmp_path / "a.db"))], "demo.db", left)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "esc back to b.db" in str(app.query_one("#start-keys", Static).content)
        await pilot.press("enter", "escape", "escape")
    assert app.return_value == Beginning(left.path, "amira")
    app = StartApp([], "demo.db", left)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("q")
    assert app.return_value is None
