"""Code: the list of problems, one problem's pass matrix, and a solution with the tests it fails."""

from __future__ import annotations

import asyncio
import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from tests.coding import make_code_project
from tests.tui.solved import CLIP, DOUBLE, OUTCOMES, add_outcomes, solved_project
from tests.tui.stage import add_run, notices, opened, press, screen_of, settle, text_of, until
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.choices import ChoiceMenu
from workbench.app.tui.kit.columns import Sort
from workbench.app.tui.kit.option_field import OptionField
from workbench.app.tui.kit.pass_grid import PassGrid
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.kit.title_bar import TitleBar
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.code import CodeScreen
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.code_solution import CodeSolutionScreen
from workbench.app.tui.screens.help import HelpScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.app.tui.screens.start_run import SetUpRunScreen
from workbench.app.tui.screens.verb import VerbOutputScreen, VerbScreen
from workbench.coding import problems
from workbench.core.project import Project, open_project
from workbench.core.selection import Condition
from workbench.core.verdict import Outcome
from workbench.interchange.importing import import_files, plan_import


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = solved_project(tmp_path_factory.mktemp("solved"))
    project.close()
    return project.path


@pytest.fixture
def project(solved: Path) -> Iterator[Project]:
    found = open_project(solved)
    yield found
    found.close()


def table(app: WorkbenchApp) -> list[str]:
    """Return the lines of the table on the screen."""
    widget = app.screen.query_one(VirtualTable)
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


def grid(app: WorkbenchApp) -> list[str]:
    """Return the lines of the pass matrix on the screen."""
    widget = app.screen.query_one(PassGrid)
    return [widget.render_line(y).text.rstrip() for y in range(widget.size.height)]


def problem(app: WorkbenchApp) -> CodeProblemScreen:
    return screen_of(app, CodeProblemScreen)


def read(app: WorkbenchApp, name: str) -> str:
    """Return the content of a reader on the screen."""
    document = app.screen.query_one(f"#{name}", Reader).document
    return "" if document is None else document.text


async def go(pilot: Pilot[None], *keys: str) -> None:
    """Press keys quickly, and wait for the result."""
    await pilot.press(*keys)
    await settle(pilot)


async def enter(pilot: Pilot[None], key: str, text: str) -> None:
    """Open a line with a key, replace its text and press enter."""
    await press(pilot, key)
    pilot.app.screen.query_one(Input).value = text
    await press(pilot, "enter")


# -- List ------------------------------------------------------------------------------------------


async def test_problems_can_be_listed_searched_filtered_and_sorted(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        screen_of(app, CodeScreen)
        assert "suite base, execution (run 1)" in text_of(app, "#code-caption")
        assert [line.split() for line in table(app)[1:3]] == [
            ["›own/clip", "clip", "6/7", "14", "17", "50", "base:5", "plus:30"],
            ["own/double", "double", "1/1", "100", "100", "–", "base:1"],
        ]
        await enter(pilot, "slash", "Limit a")
        assert [line.split()[0] for line in table(app)[1:2]] == ["›own/clip"]
        assert app.screen.query_one(TitleBar).remark == "1 of 1  ·  /Limit a"
        await go(pilot, "escape", "f", "4")  # every solution passes
        assert table(app)[1].startswith("›own/double")
        await press(pilot, "escape", *["right"] * 4, "s")  # pass@1
        assert [line.split()[0] for line in table(app)[1:3]] == ["›own/clip", "own/double"]
        await press(pilot, "S")
        assert [line.split()[0] for line in table(app)[1:3]] == ["›own/double", "own/clip"]
        await enter(pilot, "at", "own/clip")
        assert app.screen.query_one(VirtualTable).selected_id == 1
        await enter(pilot, "at", "nowhere")
        assert text_of(app, "PromptLine .trouble") == "No problem has the task id 'nowhere'."


@pytest.mark.soak
async def test_tests_of_every_suite_are_shown_next_to_long_names(tmp_path: Path) -> None:
    tests = CLIP.suites["base"][:1]
    suites = {"base": tests * 12, "plus": tests * 25, "whole": tests}
    problem = structs.replace(CLIP, task_id="HumanEval/149", entry_point="correct_bracketing", suites=suites)
    solutions = [{"completion": f"def clip(x):\n    return {number}\n", "gold": False} for number in range(20)]
    double = [{"completion": "def double(a):\n    return 2 * a\n", "gold": True}]
    project = make_code_project(tmp_path, {problem.task_id: solutions, "own/double": double}, problem, DOUBLE)
    add_outcomes(project, "execution", "base", {1: "p" * 12}, complete=False)
    add_outcomes(project, "harder", "plus", dict.fromkeys(range(1, 21), "f" * 25))
    with project.database.write() as connection:
        connection.execute("INSERT INTO datasets (name, created_at) VALUES ('another one', '2026')")
        connection.execute("UPDATE questions SET dataset_id = 2 WHERE key = 'own/double'")
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        await until(pilot, lambda: "data set" in table(app)[0])
        assert table(app)[0].endswith(" tests")
        assert table(app)[1].split() == [
            *("›HumanEval/149", "code", "corr…", "20/20", "0", "0", "100", "base:12", "plus:25", "whole:1")
        ]
        await pilot.resize_terminal(100, 24)
        await until(pilot, lambda: " sol. " in table(app)[0])
        assert table(app)[1].endswith(" base:12 plus:25 whole:1")
    project.close()


async def test_outcomes_of_another_run_are_counted(project: Project) -> None:
    async with opened(project, size=(120, 40)) as (app, pilot):
        await go(pilot, *":o", "enter", "w", "2")
        assert "suite plus, plus (run 2, paused)" in text_of(app, "#code-caption")
        assert [line.split()[4:8] for line in table(app)[1:3]] == [
            ["50", "17", "ran", "2/7"],
            ["–", "100", "ran", "0/1"],
        ]


@pytest.mark.soak
async def test_solutions_on_which_suites_disagree_are_found(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "f", "7")
        await until(pilot, lambda: app.screen.query_one(VirtualTable).position == "– of 0")
        writer = open_project(project.path)
        add_outcomes(writer, "hard", "plus", {1: "p" * 29 + "f"})
        writer.close()
        await press(pilot, "r")
        await until(pilot, lambda: app.screen.query_one(VirtualTable).row_count == 1)
        assert table(app)[1].startswith("›own/clip")
        await until(pilot, lambda: "· plus: hard (run" in text_of(app, "#code-caption"))
        await go(pilot, *["right"] * 5, "s")
        assert app.screen.query_one(VirtualTable).sort == Sort("beside")
    project.close()


async def test_annotator_cannot_open_the_screen(project: Project) -> None:
    async with opened(project, annotator="ann") as (app, pilot):
        app.open_screen("code")
        await settle(pilot)
        assert type(app.screen).__name__ == "HomeScreen"
        assert "This screen is the coordinator's." in notices(app)


async def test_screen_without_problems_says_how_to_import_them(tmp_path: Path) -> None:
    async with opened(open_project(tmp_path / "p.db", create=True)) as (app, pilot):
        await press(pilot, *":o", "enter")
        assert "Import problems, then their solutions, with the command Import (^p)." in text_of(app, "#code-caption")
        await press(pilot, "enter", "w", "V", "s", "escape")


def field(app: WorkbenchApp, name: str) -> str:
    """Return the value of a field of the form that starts a verifier."""
    return screen_of(app, SetUpRunScreen).query_one(f"#option-{name}", OptionField).value


@pytest.mark.soak
async def test_imported_problems_appear_on_the_empty_screen(tmp_path: Path) -> None:
    file = tmp_path / "problems.jsonl"
    solved = {"canonical_solution": "    return x", "test": "def check(f):\n    assert f(1) == 1"}
    problem = {"task_id": "t/1", "entry_point": "f", "prompt": "def f(x):", **solved}
    file.write_text(f"{json.dumps(problem)}\n")
    project = open_project(tmp_path / "p.db", create=True)
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        await until(pilot, lambda: "No code problems yet" in text_of(app, "#code-caption"))
        await asyncio.to_thread(import_files, project, plan_import([file]))
        await until(pilot, lambda: screen_of(app, CodeScreen).table.position == "1 of 1")
        assert "No code problems yet" not in text_of(app, "#code-caption")


async def test_missing_suite_can_be_started_from_the_screen(tmp_path: Path) -> None:
    project = make_code_project(tmp_path, {"own/clip": [{"completion": "def clip(x):\n    return x\n"}]}, CLIP)
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        await until(pilot, lambda: problem(app).matrix)
        await press(pilot, "w")
        await until(pilot, lambda: "suite plus" in text_of(app, "#code-problem-caption"))
        assert "not run yet: a starts it" in text_of(app, "#code-problem-caption")
        await press(pilot, "a")
        await until(pilot, lambda: isinstance(app.screen, SetUpRunScreen) and app.screen.query("#option-suite"))
        assert (field(app, "suite"), field(app, "name")) == ("plus", "execution-plus")
        await press(pilot, "escape", "escape", "escape", "a")
        assert isinstance(app.screen, ChoiceMenu)
        listed = [str(one.prompt).split(maxsplit=1)[1] for one in app.screen.query_one(OptionList).options]
        assert listed == ["base", "base and plus", "plus"]
        await press(pilot, "2")
        await until(pilot, lambda: isinstance(app.screen, SetUpRunScreen) and app.screen.query("#option-suite"))
        assert (field(app, "suite"), field(app, "name")) == ("base,plus", "execution-base-plus")


def test_complete_suite_can_be_run_again(project: Project) -> None:
    assert [(one.words, one.name) for one in problems.runnable_suites(project)] == [
        ("base", "execution"),
        ("base and plus", "execution-base-plus"),
        ("plus", "plus"),
    ]


@pytest.mark.soak
async def test_screen_without_matches_says_so_and_escape_clears(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        for keys in (("f", "3"), ("slash", *"nowhere", "enter")):
            await press(pilot, *keys)
            await until(pilot, lambda: app.screen.query_one(VirtualTable).position == "– of 0")
            assert table(app)[1].strip() == "No row matches; Back clears the search."
            assert "suite base, execution (run 1)" in text_of(app, "#code-caption")
            await press(pilot, "escape")
            await until(pilot, lambda: app.screen.query_one(VirtualTable).row_count == 2)


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["browse", "runs", "code", "accuracy", "disagreements"])
async def test_every_list_says_when_nothing_matches(project: Project, name: str) -> None:
    async with opened(project) as (app, pilot):
        app.open_screen(name)
        await settle(pilot)
        found = app.screen.query_one(VirtualTable)
        await until(pilot, lambda: found.row_count)
        assert found.source is not None
        found.narrow((Condition(found.source.columns[0].key, "=", "nothing is like this"),))
        await until(pilot, lambda: not found.row_count)
        await settle(pilot)
        assert any("No row matches" in line for line in table(app))
        assert not any("import" in notice.lower() for notice in notices(app))


async def test_outcomes_are_written_from_the_list_and_from_a_problem(tmp_path: Path) -> None:
    project = solved_project(tmp_path)
    path = project.path.with_name(f"{project.path.stem}-outcomes.csv")

    def lines() -> list[dict[str, str]]:
        return list(csv.DictReader(path.read_text().splitlines()))

    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "e")
        menu = app.screen.query_one(OptionList)
        place = next(n for n, one in enumerate(menu.options) if "test outcomes" in str(one.prompt))
        menu.highlighted = place
        await press(pilot, "enter")
        await until(pilot, lambda: isinstance(app.screen, VerbScreen))
        form = screen_of(app, VerbScreen)
        await until(pilot, lambda: form.query("#option-table"))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert [(one["solution_id"], one["outcomes"]) for one in lines() if one["verifier"] == "execution"][:2] == [
            ("0", "ppppp"),
            ("1", "ppfpf"),
        ]
        path.unlink()
        await press(pilot, "escape", "escape", "down", "enter")
        await until(pilot, lambda: problem(app).matrix)
        await press(pilot, "e")
        await until(pilot, lambda: isinstance(app.screen, VerbScreen))
        form = screen_of(app, VerbScreen)
        await until(pilot, lambda: form.query("#option-where"))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
        assert {one["task_id"] for one in lines()} == {"own/double"}
        assert "Left out: 1 solution without tests in the suite." in screen_of(app, VerbOutputScreen).text
    project.close()


# -- the matrix ------------------------------------------------------------------------------------


async def test_matrix_is_sorted_and_its_clusters_fold(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        await until(pilot, lambda: problem(app).matrix)
        assert [line.split() for line in grid(app)[:10]] == [
            ["solution", "pass", "G", "1", "2", "4", "3", "5"],
            ["forgeable", "~"],
            ["pass", "rate", "▇", "▇", "▆", "▃", "▂"],
            ["›", "0", "5/5", "✓", "p", "p", "p", "p", "p"],
            ["3", "4/5", "✗", "p", "p", "p", "p", "f"],
            ["┌1", "3/5", "✗", "p", "p", "p", "f", "f"],
            ["└2", "3/5", "✗", "p", "p", "p", "f", "f"],
            ["5", "2/5", "✗", "p", "p", "e", "f", "f"],
            ["4", "0/5", "✗", "s", "s", "s", "s", "s"],
            ["6", "–", "✗", "n", "n", "n", "n", "n"],
        ]
        await go(pilot, "down", "down", "down", "space")
        assert grid(app)[5].split() == ["›▸1", "×2", "3/5", "✗", "p", "p", "p", "f", "f"]
        assert problem(app).order == [1, 4, 2, 6, 5, 7]
        await press(pilot, "h", "s")
        assert problem(app).order == [1, 4, 2, 3, 6, 5, 7]
        assert grid(app)[0].split()[3:] == ["1", "2", "3", "4", "5"]
        await press(pilot, "h", "v")
        assert problem(app).order == [1, 4, 2, 6, 5, 7]
        assert grid(app)[3].split() == ["0", "5/5", "✓", "✓", "p", "p", "p", "p", "p"]
        assert text_of(app, "#code-problem-legend") == "G gold · v1 judge"
        await press(pilot, "w")
        assert text_of(app, "#code-problem-caption").splitlines() == [
            "suite plus · 30 tests · by plus (run 2, paused)",
            "2 of 7 solutions run · 1 pass all tests (pass@1 50.0 %) · 2 patterns",
        ]
        assert grid(app)[3].split()[4:] == ["✓", "p" * 30]
        await go(pilot, "at", "right_square_bracket", "right_square_bracket")
        assert problem(app).question == 2
        assert notices(app) == ["No other run has outcomes of this suite.", "This is the last problem."]
        assert "suite base · 1 test" in text_of(app, "#code-problem-caption")


async def test_test_and_solution_under_the_cursor_are_shown_below(project: Project) -> None:
    async with opened(project, size=(120, 40)) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        await go(pilot, *["down"] * 4, "right", "right")
        assert read(app, "code-problem-test").startswith(
            "Test 4  67 % of solutions pass · judged inside the sandbox: forgeable\ntry:\n    clip(None)"
        )
        assert read(app, "code-problem-solution").splitlines() == [
            "Solution 5  2 of 5 passed (0.400) · gold ✗ incorrect · m/6",
            "L2: Landlock and seccomp · 1.5 ms a test",
            "e  raised another error  test 4",
            "error    ValueError: \x1b[31m[bold]\u202e  line 3",
            "verdicts ✗ judge",
        ]
        shown = "".join(
            strip.text
            for strip in app.screen.query_one("#code-problem-solution", Reader).render_lines(
                app.screen.query_one("#code-problem-solution", Reader).size.region
            )
        )
        assert "␛[31m[bold]⟨U+202E⟩" in shown
        await go(pilot, "d", "down", "enter")
        assert not app.screen_stack[-2].query_one("#code-problem-panes").display
        assert screen_of(app, CodeSolutionScreen).completion == 5
        assert read(app, "code-solution-code").splitlines()[1].endswith("# ␛[31m[bold]⟨U+202E⟩")


@pytest.mark.soak
async def test_matrix_follows_a_run_and_reveals_are_recorded_once(tmp_path: Path) -> None:
    project = solved_project(tmp_path)

    def reveals() -> list[tuple[str, int]]:
        rows = project.database.reader().execute(
            "SELECT task, subject FROM label_events WHERE kind = 'reveal' ORDER BY task, subject"
        )
        return rows.fetchall()

    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter")
        assert reveals() == []
        await press(pilot, "enter")
        seen = [("correctness", item) for item in range(1, 8)] + [("type", 1)]
        assert reveals() == seen
        await press(pilot, "down")
        writer = open_project(project.path)
        add_outcomes(writer, "later", "base", {**OUTCOMES, 7: "ppfpp"})
        writer.close()
        await until(pilot, lambda: len(problem(app).matrix.runs) == 2)  # type: ignore[union-attr]
        await press(pilot, "at")
        assert "by later (run 4)" in text_of(app, "#code-problem-caption")
        assert problem(app).order[:3] == [1, 4, 7]
        assert app.screen.query_one(PassGrid).solution == 4
        await press(pilot, "enter")
        assert reveals() == seen
    project.close()


# -- a solution ------------------------------------------------------------------------------------


async def test_solution_shows_why_it_fails(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter")
        await go(pilot, *["down"] * 4, "right", "right", "enter")
        assert screen_of(app, CodeSolutionScreen).completion == 6
        assert [line.split()[:2] for line in table(app)[1:4]] == [["3", "f"], ["›4~", "e"], ["5", "f"]]
        assert "2 of 5 passed (0.400) · suite base" in text_of(app, "#code-solution-facts")
        assert "L2: Landlock and seccomp" in text_of(app, "#code-solution-facts")
        code = read(app, "code-solution-code").splitlines()
        assert code[2] == "▶3         raise ValueError('none')"
        assert read(app, "code-solution-evidence").splitlines()[0] == "e  raised another error  test 4"
        assert "judged inside the sandbox: forgeable" in str(
            app.screen.query_one("#code-solution-evidence", Reader).border_title
        )
        await press(pilot, "right_square_bracket")
        assert read(app, "code-solution-evidence").splitlines()[1].startswith("The reason was not stored")
        assert "▶" not in read(app, "code-solution-code")
        await press(pilot, "left_square_bracket", "left_square_bracket")
        assert "got      'got 2'" in read(app, "code-solution-evidence")
        await press(pilot, "w", "home")
        assert table(app)[1].split()[:3] == ["›1", "p", "passed"]


@pytest.mark.soak
async def test_neighbours_items_and_the_way_back(project: Project) -> None:
    async with opened(project) as (app, pilot):
        await press(pilot, *":o", "enter", "enter", "enter")
        assert "It passes every test" in read(app, "code-solution-evidence")
        await press(pilot, "right_square_bracket")
        assert screen_of(app, CodeSolutionScreen).completion == 4
        await press(pilot, "i")
        assert screen_of(app, ItemScreen).completion == 4
        await press(pilot, "i")
        chosen = problem(app).chosen
        assert chosen is not None
        assert chosen.id == 4


async def test_item_that_is_not_a_solution_says_so(tmp_path: Path) -> None:
    from tests.helpers import make_project, numbered

    project = make_project(tmp_path, numbered(2))
    add_run(project, "rules", {1: Outcome.CORRECT})
    async with opened(project) as (app, pilot):
        app.push_screen(ItemScreen(1))
        await settle(pilot)
        await press(pilot, "i")
        assert "This item is not a solution of a code problem." in notices(app)


async def test_card_of_a_solution_shows_code_metrics(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, pilot):
        app.push_screen(ItemScreen(2))
        await settle(pilot)
        card = text_of(app, "#item-card")
        assert "clip  3 of 5 passed" in card
        assert "test 3 fails first" in card
        titles = [str(pane.border_title) for pane in app.screen.query(Reader)]
        assert not any("guess" in title for title in titles)


@pytest.mark.soak
async def test_help_explains_terms_of_code(tmp_path: Path) -> None:
    async with opened(solved_project(tmp_path)) as (app, pilot):
        app.push_screen(CodeProblemScreen(1))
        await settle(pilot)
        await press(pilot, "question_mark")
        assert isinstance(app.screen, HelpScreen)
        help_text = "\n".join(line.text for line in app.screen.listed)
        for word in ("suite", "pattern", "forgeable", "L1 L2 L3", "excluded"):
            assert word in help_text
