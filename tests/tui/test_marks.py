"""Marks on a label: tags, a partial score, unsure, a note; they wait for the label and are stored with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tui.labelling import desk, make, rows
from tests.tui.stage import SIZES
from workbench.app.tui.screens.annotate import PARTIAL_SCORES
from workbench.core.label import TAGS
from workbench.core.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    yield made
    made.close()


def stored(project: Project) -> list[Any]:
    """(verdict, tags, partial score) of all labels in order."""
    return rows(project, "SELECT verdict, tags, partial FROM label_events WHERE kind = 'label' ORDER BY id")


async def test_two_keys_mark_wrong_reasoning_on_the_next_label(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("m", "1")
        assert "· not labelled  ◆ reasoning wrong" in it.line()
        assert stored(project) == []
        await it.press("1")
        assert it.completion != first
        assert "reasoning wrong" not in it.line()
    assert stored(project) == [("correct", '["reasoning_wrong"]', None)]


async def test_several_tags_can_be_set_and_removed(project: Project) -> None:
    async with desk(project) as it:
        await it.press("m", "7", "m", "2", "m", "3")
        assert "◆ reasoning right  ◆ guessed  ◆ degenerate" in it.line()
        await it.press("m", "3", "0")
    assert stored(project) == [("incorrect", '["reasoning_right","degenerate"]', None)]


@pytest.mark.few(5)
@pytest.mark.parametrize(("key", "score"), list(zip("01234", PARTIAL_SCORES, strict=True)))
async def test_partial_score_takes_two_keys(project: Project, key: str, score: float) -> None:
    async with desk(project) as it:
        await it.press("percent_sign", key)
        assert f"◔ {score:g} right" in it.line()
        await it.press("x", "5")
    assert stored(project) == [("unsuitable", None, score)]


@pytest.mark.soak
async def test_partial_score_chosen_again_is_removed(project: Project) -> None:
    async with desk(project) as it:
        await it.press("percent_sign", "2", "percent_sign", "2")
        assert "right" not in it.line()
        await it.press("percent_sign", "5", "percent_sign", "9", "escape", "m", "0", "m", "8", "escape", "1")
    assert stored(project) == [("correct", None, None)]


@pytest.mark.few(2)
@pytest.mark.parametrize("size", SIZES)
async def test_menu_shows_every_tag_and_marks_those_set(project: Project, size: tuple[int, int]) -> None:
    async with desk(project, "amira", size) as it:
        await it.press("m", "4", "m")
        assert all(words in it.text() for words in TAGS.values())
        assert "● hack: several answers" in it.text()
        assert it.text().count("●") == 1
        await it.press("escape", "percent_sign", "1", "percent_sign")
        assert "● a quarter (0.25)" in it.text()


async def test_marks_on_a_label_are_stored_as_a_correction_and_undone(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("ampersand", "1", "m", "1", "percent_sign", "4")
        assert "✓ correct  ◆ reasoning wrong  ◔ 1 right" in it.line()
        assert rows(project, "SELECT count(*) FROM label_events WHERE supersedes IS NOT NULL") == [(2,)]
        await it.press("z")
        assert it.completion == first
        assert "✓ correct  ◆ reasoning wrong" in it.line()
        assert "◔" not in it.line()
    assert stored(project)[:3] == [
        ("correct", None, None),
        ("correct", '["reasoning_wrong"]', None),
        ("correct", '["reasoning_wrong"]', 1.0),
    ]


@pytest.mark.soak
async def test_marks_wait_while_an_older_label_is_shown(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1")
        second = it.completion
        await it.press("m", "5", "percent_sign", "1", "u", "c", *"half", "enter", "left_square_bracket")
        assert "addresses grader" not in it.line()
        await it.press("right_square_bracket")
        assert it.completion == second
        assert "? unsure  ◆ addresses grader  ◔ 0.25 right" in it.line()
        await it.press("0")
    assert stored(project)[-1] == ("incorrect", '["addresses_grader"]', 0.25)
    assert rows(project, "SELECT unsure, note FROM label_events ORDER BY id DESC LIMIT 1") == [(1, "half")]


@pytest.mark.soak
async def test_history_and_browsing_back_show_marks(project: Project) -> None:
    async with desk(project) as it:
        await it.press("m", "1", "percent_sign", "4", "1", "left_square_bracket")
        assert "✓ correct  ◆ reasoning wrong  ◔ 1 right" in it.line()
        it.app.open_screen("history")
        await it.settle()
        assert "✓ correct  ◆ reasoning wrong  ◔ 1 right" in it.text()


@pytest.mark.soak
async def test_unsuitable_item_accepts_marks(project: Project) -> None:
    async with desk(project) as it:
        await it.press("m", "7", "x", "5")
    assert stored(project) == [("unsuitable", '["degenerate"]', None)]


@pytest.mark.soak
async def test_missing_type_is_shown_first(tmp_path: Path) -> None:
    project = make(tmp_path, "labelled")
    async with desk(project) as it:
        await it.press("ampersand", "u", "exclamation_mark", "enter", "m", "1", "m", "6", "percent_sign", "4")
        await it.press("1", "escape")
        assert "! type missing: t" in it.text()
    project.close()


# -- Marks that contradict the verdict ---------------------------------------------------------------------


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("keys", "meant", "stored_then"),
    [
        (("m", "2"), "1", ("correct", None, None)),
        (("m", "2"), "2", ("incorrect", '["reasoning_right"]', None)),
        (("m", "2"), "3", ("correct", '["reasoning_right"]', None)),
        (("percent_sign", "0"), "1", ("correct", None, None)),
        (("percent_sign", "2"), "2", ("incorrect", None, 0.5)),
        (("m", "1", "m", "2"), "1", ("correct", '["reasoning_wrong"]', None)),
        (("m", "1", "percent_sign", "1"), "1", ("correct", '["reasoning_wrong"]', None)),
    ],
)
async def test_contradicting_mark_is_confirmed_before_it_is_stored(
    project: Project, keys: tuple[str, ...], meant: str, stored_then: tuple[object, ...]
) -> None:
    async with desk(project) as it:
        at = it.completion
        await it.press(*keys, "1")
        assert stored(project) == [], "nothing is stored before the confirmation"
        assert "Which one do you mean?" in it.text()
        await it.press("escape")
        assert (stored(project), it.completion) == ([], at)
        await it.press("1", meant)
        assert stored(project) == [stored_then]
        assert it.completion != at


async def test_mark_that_contradicts_a_stored_verdict_is_confirmed(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1", "left_square_bracket", "m", "2")
        assert "Which one do you mean?" in it.text()
        await it.press("2")
        assert "✗ incorrect  ◆ reasoning right" in it.line()
    assert stored(project)[-1] == ("incorrect", '["reasoning_right"]', None)


@pytest.mark.soak
async def test_missing_type_is_requested_after_the_confirmation(tmp_path: Path) -> None:
    project = make(tmp_path, "labelled")
    async with desk(project) as it:
        await it.press("m", "2", "1", "2", "a", "1")
        assert rows(project, "SELECT verdict, subtype FROM label_events ORDER BY id") == [
            ("incorrect", None),
            (None, "A1"),
        ]
    project.close()
