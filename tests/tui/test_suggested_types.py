"""A model's answer types are suggested for one key if the coordinator enables it; otherwise annotators are blind."""

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


def store_suggestion(project: Project, suggestion: str | None) -> None:
    """Store this suggestion of a model for every question."""
    add_complete_run(project, "typist", types(dict.fromkeys(range(1, ITEMS + 1), suggestion)), kind=ANSWER_TYPE)


def unblinded(project: Project) -> dict[str, set[bool]]:
    """Return whether labels are marked unblinded, by task."""
    query = "SELECT task, unblinded FROM label_events WHERE kind = 'label'"
    found: dict[str, set[bool]] = {}
    for task, mark in project.database.reader().execute(query):
        found.setdefault(task, set()).add(bool(mark))
    return found


async def label_one(project: Project, settings: Settings | None, offered: str, *keys: str) -> None:
    """Label an item, and answer the picker once it shows this suggestion."""
    async with opened(project, annotator="amira", settings=settings) as (app, pilot):
        await press(pilot, *":a", "enter", "1")
        assert isinstance(app.screen, TypePicker)
        assert offered in text_of(app, "#type-suggested") if offered else not text_of(app, "#type-suggested")
        await press(pilot, *keys)
        assert not isinstance(app.screen, TypePicker)


async def test_suggestion_is_confirmed_with_one_key_and_marked(typed: Project) -> None:
    store_suggestion(typed, "B5")
    await label_one(typed, ON, "a model suggests B5 - Matrix · enter takes it", "enter")
    assert [subtype for _, subtype in labels(typed, "type")] == ["B5"]
    assert unblinded(typed) == {"correctness": {False}, "type": {True}}


@pytest.mark.soak
async def test_another_type_can_be_chosen_instead(typed: Project) -> None:
    store_suggestion(typed, "B5")
    await label_one(typed, ON, "B5", "a", "2")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A2"]
    assert unblinded(typed)["type"] == {True}


@pytest.mark.soak
async def test_suggestion_outside_the_taxonomy_cannot_be_confirmed(typed: Project) -> None:
    store_suggestion(typed, "proof")
    await label_one(typed, ON, "none of these: proof", "enter", "a", "2")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A2"]


@pytest.mark.few(2)
@pytest.mark.parametrize("settings", [None, Settings(suggest_types="nobody")])
async def test_annotators_are_blind_without_suggestions(typed: Project, settings: Settings | None) -> None:
    store_suggestion(typed, "B5")
    await label_one(typed, settings, "", "enter", "a", "1")
    assert [subtype for _, subtype in labels(typed, "type")] == ["A1"]
    assert unblinded(typed) == {"correctness": {False}, "type": {False}}
    reveals = typed.database.reader().execute("SELECT count(*) FROM label_events WHERE kind = 'reveal'").fetchone()
    assert reveals == (0,)


async def test_missing_suggestion_leaves_no_mark(typed: Project) -> None:
    store_suggestion(typed, None)
    await label_one(typed, ON, "", "a", "1")
    assert unblinded(typed)["type"] == {False}
