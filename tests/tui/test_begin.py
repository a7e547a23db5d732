"""From an empty database to a first metric and stored error causes, without a shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.background import runner_ends
from tests.helpers import make_project, numbered
from tests.tui.stage import ONE_SIZE, add_run, notices, opened, press, screen_of, settle, text_of, until
from tests.tui.test_import import choose
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.kit.virtual_table import VirtualTable
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.app.tui.screens.home import HomeScreen
from workbench.app.tui.screens.import_data import ImportScreen
from workbench.app.tui.screens.start_run import SetUpRunScreen
from workbench.app.tui.screens.triage import TriageScreen
from workbench.app.tui.screens.type_proposals import TypeProposalsScreen
from workbench.app.tui.screens.verb import VerbOutputScreen
from workbench.benchmarks.curating.type_forms import subtype_by_form
from workbench.core.project import Project
from workbench.core.verdict import Outcome
from workbench.interchange.importing import import_files, plan_import
from workbench.runs.run_status import runs

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
ROWS = """\
Prompt text,Expected result,What the model said,Human OK?,Grader says
What is 6 times 7?,42,The answer is \\boxed{42}.,yes,correct
What is half of 9?,4.5,It is \\boxed{4.5},yes,incorrect
What is a third of 12?,4,It is \\boxed{4},yes,incorrect
Name the capital of France.,Paris,It is \\boxed{Lyon},no,correct
Is 91 prime? Yes or no.,No,It is not: \\boxed{No},yes,correct
How many days are in a week?,7,\\boxed{7},NaN,NaN
"""


def text_of_table(app: App[None]) -> str:
    table = app.screen.query_one(VirtualTable)
    return "\n".join(table.render_line(y).text for y in range(table.size.height))


def rows(project: Project, query: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in project.database.reader().execute(query)]


async def import_file(app: WorkbenchApp, pilot: Pilot[None], path: Path) -> None:
    before = app.screen
    app.open_verb("import")
    await settle(pilot)
    screen = screen_of(app, ImportScreen)
    await choose(screen, file=str(path))
    await press(pilot, "enter")
    await until(pilot, lambda: screen.report is not None)
    await press(pilot, "ctrl+r")
    await until(pilot, lambda: app.screen is before)


def kinds(app: WorkbenchApp) -> list[str]:
    """Return the kinds of the open steps on Home."""
    return [one.kind for one in screen_of(app, HomeScreen).matters]


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_imported_rows_lead_to_accuracy_by_subtype_and_causes(tmp_path: Path, size: tuple[int, int]) -> None:
    file = tmp_path / "answers.csv"
    file.write_text(ROWS)
    project = make_project(tmp_path)
    async with opened(project, size=size) as (app, pilot):
        await press(pilot, "enter")
        screen = screen_of(app, ImportScreen)
        await choose(screen, file=str(file))
        await press(pilot, "enter")
        await until(pilot, lambda: screen.look is not None and screen.query("#option-gold"))
        await choose(screen, reference="Expected result", completion="What the model said", gold="Human OK?")
        await until(pilot, lambda: screen.report is not None)
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: kinds(app) and "import" not in kinds(app))
        await press(pilot, "t")
        await until(pilot, lambda: bool(screen_of(app, TypeProposalsScreen).records))
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
        app.push_screen(AccuracyScreen(by="subtype"))
        await settle(pilot)
        accuracy = screen_of(app, AccuracyScreen)
        await until(pilot, lambda: accuracy.sheet is not None)
        assert accuracy.sheet is not None
        assert {"A1", "A3", "C4", "D1"} <= {group for group in accuracy.sheet.groups if group}
        await press(pilot, "m")
        screen_of(app, TriageScreen)
        await press(pilot, "1", "2", "3")
    assert len(rows(project, "SELECT category FROM reviews")) == 3
    assert rows(project, "SELECT count(*) FROM completions WHERE imported_gold IS NULL") == [(1,)]


@pytest.mark.soak
async def test_code_problems_lead_to_a_pass_matrix_and_an_export(tmp_path: Path) -> None:
    files = {}
    for name, many in (("code_problems", 1), ("code_solutions", 3)):
        files[name] = tmp_path / f"{name}.jsonl"
        files[name].write_text("".join((SAMPLE / f"{name}.jsonl").read_text().splitlines(keepends=True)[:many]))
    with runner_ends(make_project(tmp_path)) as project:
        async with opened(project) as (app, pilot):
            await import_file(app, pilot, files["code_problems"])
            await until(pilot, lambda: "1 question without" in screen_of(app, HomeScreen).matters[0].sentence)
            await import_file(app, pilot, files["code_solutions"])
            await until(pilot, lambda: "verify" in kinds(app))
            await press(pilot, str(kinds(app).index("verify") + 1), "1")
            screen_of(app, SetUpRunScreen)
            await press(pilot, "ctrl+r")
            await until(pilot, lambda: [run.state for run in runs(project)] == ["complete"])
            more = tmp_path / "more.jsonl"
            more.write_text("".join((SAMPLE / "code_solutions.jsonl").read_text().splitlines(keepends=True)[3:5]))
            await import_file(app, pilot, more)
            await until(pilot, lambda: "… 2 wait" in text_of_table(app))
            assert "2 items were added after it was complete and wait: ^r judges them." in text_of(app, "#runs-run")
            await press(pilot, "x")
            assert "Run 1 is complete: there is nothing to cancel." in notices(app)
            written = tmp_path / "out.jsonl"
            app.open_verb("export", file=str(written), format="jsonl")
            await settle(pilot)
            await press(pilot, "ctrl+r")
            await until(pilot, lambda: isinstance(app.screen, VerbOutputScreen))
            assert len(written.read_text().splitlines()) == 5


async def test_import_is_followed_by_a_verifier_and_then_disagreements(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: "verify" in kinds(app))
        await press(pilot, str(kinds(app).index("verify") + 1))
        assert screen_of(app, SetUpRunScreen).chosen.name == "rules"
        await press(pilot, "escape", "escape")
        for name, wrong in (("mild", 0), ("strict", 3)):
            verdicts = {item: Outcome.INCORRECT if item <= wrong else Outcome.CORRECT for item in range(1, 5)}
            add_run(project, name, verdicts)
        await until(pilot, lambda: "verifier-disagreements" in kinds(app))
        place = kinds(app).index("verifier-disagreements")
        assert screen_of(app, HomeScreen).matters[place].sentence == "mild and strict disagree on 3 items."
        await press(pilot, str(place + 1))
        assert screen_of(app, DisagreementsScreen).asked.queue == "verifiers"


async def test_types_are_not_derived_without_items(tmp_path: Path) -> None:
    async with opened(make_project(tmp_path)) as (app, pilot):
        await press(pilot, "t")
        screen_of(app, HomeScreen)
        assert any("There are no items yet" in text for text in notices(app))


@pytest.mark.soak
async def test_types_are_accepted_one_by_one(tmp_path: Path) -> None:
    texts = [("q", "42"), ("q", "Paris"), ("q", "[red]x[/")]
    found = [
        {"question_id": f"q{place}", "question": text, "reference": answer, "type": None, "subtype": None}
        for place, (text, answer) in enumerate(texts)
    ]
    project = make_project(tmp_path, found)
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: bool(kinds(app)))
        await press(pilot, "t")
        screen = screen_of(app, TypeProposalsScreen)
        await until(pilot, lambda: len(screen.records) == 3)
        await press(pilot, "space", "down", "t", "2")
        assert [(one.taken, one.subtype) for one in screen.records][:2] == [(False, "A1"), (True, "A2")]
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: app.screen is not screen)
    settled = "SELECT kind, unblinded, count(*) FROM label_events WHERE task = 'type' GROUP BY 1, 2"
    assert [row[:2] for row in rows(project, settled)] == [("adjudication", 1)]


@pytest.mark.soak
async def test_type_column_of_the_file_precedes_the_form_of_references(tmp_path: Path) -> None:
    names = ["C4 - Finite state selection", "B4 - Set", *["Integer"] * 9, ""]
    rows = [f"{n}?,42,It is 42,{kind}" for n, kind in enumerate(names)]
    (tmp_path / "own.csv").write_text("\n".join(["question,reference,completion,kind", *rows]))
    project = make_project(tmp_path, [])
    import_files(project, plan_import([tmp_path / "own.csv"]))
    async with opened(project) as (app, pilot):
        await until(pilot, lambda: bool(kinds(app)))
        await press(pilot, "t")
        screen = screen_of(app, TypeProposalsScreen)
        await until(pilot, lambda: len(screen.records) == 12)
        assert [one.subtype for one in screen.records] == ["C4", "B4", *["A1"] * 10]
        assert [one.column for one in screen.records] == [*["kind"] * 11, None]
        await press(pilot, "space")
        await press(pilot, "ctrl+r")
        await until(pilot, lambda: app.screen is not screen)
        assert any("11 types accepted" in text and "1 question stays without a type" in text for text in notices(app))


FORMS = {
    "42": "A1", "4.5": "A3", "1/3": "A2", r"\pi": "A2", r"\sqrt{2}": "A4", r"30^\circ": "A6", "1011_2": "A7",
    "1, 2, 3": "A8", "3x+1": "B1", "(-2, 2)": "B3", r"\{1,2\}": "B4", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}": "B5",
    "No": "C4", "Paris": "D1", "the dog ran because it was afraid of cats": "D2", "": None,
}  # fmt: skip


@pytest.mark.parametrize("reference", FORMS)
def test_type_is_derived_from_the_form_of_a_reference(reference: str) -> None:
    assert subtype_by_form("What is it?", reference) == FORMS[reference]


def test_options_are_choices() -> None:
    assert [subtype_by_form("Which: (A) x (B) y (C) z?", text) for text in ("B", "A, C")] == ["C1", "C2"]
