"""A model's answer types are offered for one key where the coordinator wants that; else people are blind to them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tui.labelling import ITEMS, labels, make
from tests.tui.stage import opened, press, text_of
from tests.unit.measuring.scored_runs import add_complete_run, types
from workbench.app.tui.kit.type_picker import TypePicker
from workbench.config import Settings
from workbench.core.project import Project
from workbench.core.taxonomy import ANSWER_TYPE

ON = Settings(suggest_types="typist")


@pytest.fixture
def typed(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path, "labelled")
    yield made
    made.close()


def say(project: Project, suggestion: str | None) -> None:
    """Have a model say this of every question."""
    add_complete_run(project, "typist", types(dict.fromkeys(range(1, ITEMS + 1), suggestion)), kind=ANSWER_TYPE)


def unblinded(project: Project) -> dict[str, set[bool]]:
    """Whether labels are marked unblinded, by task."""
    query = "SELECT task, unblinded FROM label_events WHERE kind = 'label'"
    found: dict[str, set[bool]] = {}
    for task, mark in project.database.reader().execute(query):
        found.setdefault(task, set()).add(bool(mark))
    return found


async def label_one(project: Project, settings: Settings | None, offered: str, *keys: str) -> None:
    """Label an item, and answer the picker once it offers this."""
    async with opened(project, annotator="amira", settings=settings) as (app, pilot):
        await press(pilot, *":a", "enter", "1")
        assert isinstance(app.screen, TypePicker)
        assert offered in text_of(app, "#type-suggested") if offered else not text_of(app, "#type-suggested")
        await press(pilot, *keys)
        assert not isinstance(app.screen, TypePicker)


async def test_a_suggestion_is_confirmed_with_one_key_and_the_label_is_marked(typed: Project) -> None:
    say(typed, "B5")
    await label_one(typed, ON, "a model suggests B5 - Matrix · enter takes it", "enter")
    assert [subtype for _, subtype in labels(typed, "type")] == ["B5"]
    assert unblinded(typed) == {"correctness": {False}, "type": {True}}


@pytest.mark.soak
async def test_another_type_can_be_given_all_the_same(typed: Project) -> None:
    say(typed, "B5")
    await label_one(typed, ON, "B5", "a", "2")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A2"]
    assert unblinded(typed)["type"] == {True}


@pytest.mark.soak
async def test_a_question_outside_the_taxonomy_has_nothing_to_confirm(typed: Project) -> None:
    say(typed, "proof")
    await label_one(typed, ON, "none of these: proof", "enter", "a", "2")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A2"]


@pytest.mark.few(2)
@pytest.mark.parametrize("settings", [None, Settings(suggest_types="nobody")])
async def test_without_suggestions_people_are_blind(typed: Project, settings: Settings | None) -> None:
    say(typed, "B5")
    await label_one(typed, settings, "", "enter", "a", "1")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A1"]
    assert unblinded(typed) == {"correctness": {False}, "type": {False}}
    reveals = typed.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'reveal'").fetchone()
    assert reveals == (0,)


async def test_a_model_that_says_nothing_leaves_no_mark(typed: Project) -> None:
    say(typed, None)
    await label_one(typed, ON, "", "a", "1")
    assert unblinded(typed)["type"] == {False}
