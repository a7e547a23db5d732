"""An item's verdicts: one is chosen, its answers are marked in the texts, and a line explains its basis."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot

from tests.helpers import make_project
from tests.tui.stage import HOSTILE, ONE_SIZE, SIZES, add_run, notices, opened, press, settle, until
from workbench.app.tui.kit.reader import Reader
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project
from workbench.core.selection import Selection
from workbench.core.verdict import Outcome, Verdict
from workbench.runs.store import runs, verdicts

LONG = "".join(f"Step {number}.\n\n" for number in range(60))
REFERENCE = LONG + r"Hence $\boxed{\frac{1}{4}}$ or $\boxed{2}$." + "\n\n" + LONG
COMPLETION = LONG + "Perhaps 9.\n\nSo it is 0.25.\n\n" + LONG + r"$\boxed{3}$"


def place(text: str, part: str) -> tuple[int, int]:
    start = text.index(part)
    return start, start + len(part)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Create two items; on the first, verifiers locate both answers, one, nonsense, or none."""
    rows = [{"reference": REFERENCE, "completion": COMPLETION, "gold": True, "subtype": "A3"}] * 2
    rows = [{**row, "question_id": f"q{number}", "completion_id": f"c{number}"} for number, row in enumerate(rows)]
    project = make_project(tmp_path, rows)
    add(
        project,
        "rules",
        Verdict(
            outcome=Outcome.CORRECT,
            reason="number",
            rule="number.exact",
            reference_final=r"\frac{1}{4}",
            reference_span=place(REFERENCE, r"\frac{1}{4}"),
            candidate_final="0.25",
            candidate_span=place(COMPLETION, "0.25"),
        ),
        items=(1, 2),
    )
    add(project, "silent", Verdict(outcome=Outcome.INCORRECT, reason="symbolic", candidate_final="9"))
    add(project, "odd", Verdict(outcome=Outcome.INCORRECT, candidate_span=(-7, 3), reference_span=(5, 10_000)))
    add(project, "blind", Verdict(outcome=Outcome.ABSTAIN, reason="no_answer_found"))
    add(project, "parts", Verdict(outcome=Outcome.ABSTAIN, reason="multi_part_reference", candidate_final="3"))
    return project


def add(project: Project, name: str, verdict: Verdict, items: Sequence[int] = (1,)) -> None:
    with project.database.write() as connection:
        verifier = runs.add_verifier(connection, name=name, kind="exact", options={}, config={}, config_hash=name)
        run = runs.add(connection, verifier, f"{name}-1.5")
        runs.queue(connection, run, Selection(), 1, 1)
        verdicts.put(connection, run, [(item, verdict) for item in items])
        runs.complete(connection, run, len(items))


@asynccontextmanager
async def showing(
    project: Project, verifier: str | None = None, *, neighbours: Sequence[int] = (), size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[ItemScreen, Pilot[None]]]:
    async with opened(project, size=size) as (app, pilot):
        app.push_screen(ItemScreen(1, neighbours, () if verifier is None else (verifier,)))
        await settle(pilot)
        assert isinstance(app.screen, ItemScreen)
        yield app.screen, pilot


def reader(screen: ItemScreen, name: str) -> Reader:
    return screen.query_one(f"#item-{name}", Reader)


def lines(screen: ItemScreen, name: str = "evidence") -> list[str]:
    """Return the whole content of a pane, visible or not."""
    document = reader(screen, name).document
    assert document is not None
    return [line.text for line in document.lines]


def marked(screen: ItemScreen, name: str) -> str:
    """Return the text marked as the final answer in a pane."""
    document = reader(screen, name).document
    assert document is not None
    return "".join(span.text for line in document.lines for span in line.spans if span.style == "answer")


def in_sight(screen: ItemScreen, name: str) -> str:
    pane = reader(screen, name)
    return "\n".join(pane.render_line(y).text for y in range(pane.scrollable_size.height))


def chosen(screen: ItemScreen) -> str | None:
    return None if screen.chosen is None else screen.chosen.verifier


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_chosen_verdict_marks_both_its_answers(project: Project, size: tuple[int, int]) -> None:
    async with showing(project, "rules", size=size) as (screen, pilot):
        assert chosen(screen) == "rules"
        assert marked(screen, "completion") == "0.25"
        assert marked(screen, "reference") == "▌1/4▐"
        await until(pilot, lambda: "▶ So it is 0.25." in in_sight(screen, "completion"))
        await until(pilot, lambda: "▶ Hence ▌1/4▐ or ▌2▐." in in_sight(screen, "reference"))
        for name in ("reference", "completion"):
            assert str(reader(screen, name).border_title).endswith("· ▶ answer as rules read it")
        await until(pilot, lambda: "› ✓ correct rules" in in_sight(screen, "evidence"))
        await press(pilot, "o")
        assert marked(screen, "reference") == r"\frac{1}{4}"
        assert marked(screen, "completion") == "0.25"


@pytest.mark.soak
async def test_place_without_an_answer_is_marked_where_the_verifier_points(project: Project) -> None:
    span = place(COMPLETION, "Perhaps 9.")
    add(project, "execution", Verdict(outcome=Outcome.INCORRECT, reason="exception", candidate_span=span))
    async with showing(project, "execution") as (screen, _):
        assert marked(screen, "completion") == "Perhaps 9."
        assert str(reader(screen, "completion").border_title).endswith("· ▶ execution points here")
        assert "  It raises an exception in a test." in lines(screen)


async def test_keys_choose_the_next_and_the_previous_verdict(project: Project) -> None:
    async with showing(project) as (screen, pilot):
        assert chosen(screen) is None
        assert marked(screen, "completion") == "▌3▐"
        seen = []
        for _ in range(6):
            await press(pilot, "v")
            seen.append(chosen(screen))
        assert seen == ["rules", "silent", "odd", "blind", "parts", None]
        await press(pilot, "V", "V")
        assert chosen(screen) == "blind"
        assert sum(line.startswith("› ") for line in lines(screen)) == 1


async def test_extracted_answer_is_marked_if_the_verifier_names_none(project: Project) -> None:
    async with showing(project, "silent") as (screen, _):
        assert marked(screen, "completion") == "▌3▐"
        title = str(reader(screen, "completion").border_title)
        assert title == "Completion · ▶ answer: last \\boxed (silent gives no position)"
        assert not any("▶ completion" in line for line in lines(screen))


@pytest.mark.soak
async def test_offsets_outside_the_text_are_ignored(project: Project) -> None:
    async with showing(project, "odd") as (screen, _):
        assert chosen(screen) == "odd"
        assert marked(screen, "completion") == "▌3▐"
        assert str(reader(screen, "reference").border_title).endswith("(odd gives no position)")


async def test_missing_answer_is_not_marked(project: Project) -> None:
    async with showing(project, "blind") as (screen, pilot):
        assert marked(screen, "completion") == ""
        assert str(reader(screen, "completion").border_title) == "Completion · blind found no answer"
        completion = reader(screen, "completion")
        assert completion.scroll_offset.y == completion.max_scroll_y
        assert "  It abstains: it found no final answer in the completion." in lines(screen)
        await press(pilot, "C")
        assert "No final answer is marked here." in notices(pilot.app)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_keys_jump_to_each_answer(project: Project, size: tuple[int, int]) -> None:
    async with showing(project, "rules", size=size) as (screen, pilot):
        await press(pilot, "tab", "home", "R")
        assert screen.focused is reader(screen, "reference")
        await until(pilot, lambda: "▶ Hence" in in_sight(screen, "reference"))
        await press(pilot, "C", "home")
        assert "0.25" not in in_sight(screen, "completion")
        await press(pilot, "C")
        assert screen.focused is reader(screen, "completion")
        await until(pilot, lambda: "▶ So it is 0.25." in in_sight(screen, "completion"))
        await press(pilot, "home", "d")
        await until(pilot, lambda: "▶ So it is 0.25." in in_sight(screen, "completion"))


@pytest.mark.soak
async def test_chosen_verdict_is_visible_in_a_small_pane(project: Project) -> None:
    async with showing(project, "parts") as (screen, pilot):
        await until(pilot, lambda: "› ? abstain parts" in in_sight(screen, "evidence"))
        await press(pilot, "tab", "home", "end", "R")
        assert screen.focused is reader(screen, "reference")
        await until(pilot, lambda: "› ? abstain parts" in in_sight(screen, "evidence"))


@pytest.mark.soak
async def test_answers_are_above_each_other_raw_and_rendered(project: Project) -> None:
    async with showing(project, "rules", size=(120, 40)) as (screen, pilot):
        assert "  ▶ reference  1/4" in lines(screen)
        await press(pilot, "o")
        assert r"  ▶ reference  \frac{1}{4}" in lines(screen)
        assert "  ▶ completion 0.25" in lines(screen)


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_line_explains_the_basis_of_each_verdict(project: Project, size: tuple[int, int]) -> None:
    async with showing(project, size=size) as (screen, _):
        text = " ".join(" ".join(lines(screen)).split())
        assert "✓ correct rules Both are the number 1/4." in text
        assert "number · rule number.exact · run 1 · 0.0 ms" in text
        assert "✗ incorrect silent Computer algebra does not find them equal." in text
        assert "✗ incorrect odd run 3" in text
        assert "? abstain parts It abstains: the reference has several parts, and the completion's box gives" in text
        assert "(none found)" in text


@pytest.mark.soak
async def test_version_is_shown_next_to_the_chosen_verdict(project: Project) -> None:
    async with showing(project, "rules") as (screen, _):
        text = " ".join(" ".join(lines(screen)).split())
        assert "number · rule number.exact · version rules-1.5 · run 1 · 0.0 ms" in text
        assert "version silent-1.5" not in text


@pytest.mark.soak
async def test_verdicts_that_led_to_the_item_come_first(project: Project) -> None:
    async with opened(project) as (app, pilot):
        app.push_screen(ItemScreen(1, (), ("parts", "silent")))
        await settle(pilot)
        assert isinstance(app.screen, ItemScreen)
        named = [line.split()[-1] for line in lines(app.screen) if line[2:3] in "✓✗?" and line[2:3]]
        assert named == ["parts", "silent", "rules", "odd", "blind"]
        await press(pilot, "v")
        assert app.screen.chosen is not None
        assert app.screen.chosen.verifier == "silent"


@pytest.mark.soak
async def test_chosen_verifier_stays_from_item_to_item(project: Project) -> None:
    async with showing(project, "silent", neighbours=[1, 2]) as (screen, pilot):
        await press(pilot, "right_square_bracket")
        assert screen.completion == 2
        assert chosen(screen) is None
        assert marked(screen, "completion") == "▌3▐"
        await press(pilot, "v")
        assert chosen(screen) == "rules"
        await press(pilot, "left_square_bracket")
        assert (screen.completion, chosen(screen)) == (1, "rules")


async def test_nothing_can_be_chosen_without_verdicts(tmp_path: Path) -> None:
    async with showing(make_project(tmp_path, [{}])) as (screen, pilot):
        await press(pilot, "v")
        assert "No verifier has judged this item yet." in notices(pilot.app)
        assert chosen(screen) is None


@pytest.mark.parametrize("size", ONE_SIZE)
async def test_answers_and_names_are_shown_as_text(tmp_path: Path, size: tuple[int, int]) -> None:
    project = make_project(tmp_path, [{}])
    for name in HOSTILE:
        verdict = Verdict(
            outcome=Outcome.CORRECT, reason=name, rule=name, reference_final=name, candidate_final=name, detail=name
        )
        add(project, name, verdict)
    async with showing(project, HOSTILE[0], size=size) as (screen, pilot):
        for name in HOSTILE:
            assert chosen(screen) == name
            shown = name.replace("\x1b", "␛")
            assert sum(shown in line for line in lines(screen)) >= 3
            assert shown in Content.from_markup(str(reader(screen, "completion").border_title)).plain
            await press(pilot, "v")


def answers(count: int) -> dict[str, Any]:
    return {"reference_final": "x" * count, "candidate_final": "∫" * count}


async def test_long_answers_are_truncated_within_their_pane(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{}])
    add(project, "long", Verdict(outcome=Outcome.CORRECT, **answers(30_000)))
    async with showing(project, "long", size=(120, 40)) as (screen, _):
        rows = [line for line in lines(screen) if "xxx" in line]
        width = reader(screen, "evidence").wrap_width
        assert 4 < len(rows) < 40
        assert all(len(row) <= width for row in lines(screen))


@pytest.mark.soak
async def test_filter_by_verdict_chooses_its_verifier(tmp_path: Path) -> None:
    from workbench.core.selection import Condition

    project = make_project(tmp_path, [{}, {}])
    add_run(project, "other", {1: Outcome.CORRECT})
    add_run(project, "named", {1: Outcome.CORRECT, 2: Outcome.INCORRECT})
    async with opened(project) as (app, pilot):
        app.open_screen("browse", Condition("verdict:named", "=", "correct"))
        await settle(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, ItemScreen)
        assert chosen(app.screen) == "named"


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_answer_far_inside_a_long_line_is_scrolled_into_view(tmp_path: Path, size: tuple[int, int]) -> None:
    text = "so " * 900 + "it is 42 " + "and so on " * 300
    project = make_project(tmp_path, [{"completion": text}])
    span = place(text, "42")
    add(project, "far", Verdict(outcome=Outcome.CORRECT, candidate_final="42", candidate_span=span))
    async with showing(project, "far", size=size) as (screen, pilot):
        assert marked(screen, "completion") == "42"
        await until(pilot, lambda: "42" in in_sight(screen, "completion"))
