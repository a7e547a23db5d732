"""Undo: each ``z`` undoes one label, across items, tasks and restarts, whatever the label was for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tui.labelling import Desktop, desk, labels, make, rows
from workbench.core.project import Project
from workbench.labelling import ledger


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = make(tmp_path)
    yield made
    made.close()


def in_force(project: Project) -> list[Any]:
    """Return (task, subject, value) of the current labels, oldest first."""
    return rows(
        project,
        "SELECT task, subject, coalesce(verdict, subtype) FROM label_events AS e "
        "WHERE kind IN ('label', 'check', 'repeat') "
        "AND NOT EXISTS (SELECT 1 FROM label_events AS x WHERE x.supersedes = e.uuid) ORDER BY id",
    )


async def label_some(it: Desktop, *keys: str) -> list[int]:
    """Label three items with the same keys; return the items in order."""
    seen = []
    for _ in range(3):
        seen.append(it.completion)
        await it.press(*keys)
    return seen


@pytest.mark.few(2)
@pytest.mark.parametrize("restart", [False, True], ids=["at once", "after a restart"])
async def test_each_key_undoes_one_label_across_items(project: Project, restart: bool) -> None:
    async with desk(project) as it:
        order = await label_some(it, "1")
        if not restart:
            await walk_back(project, it, order)
    if restart:
        async with desk(project) as it:
            await walk_back(project, it, order)
    assert in_force(project) == []
    assert not ledger.states_differ(project)


async def walk_back(project: Project, it: Desktop, order: list[int]) -> None:
    for left, completion in reversed(list(enumerate(order))):
        await it.press("z")
        assert it.completion == completion
        assert "· not labelled" in it.line()
        assert [subject for _, subject, _ in in_force(project)] == order[:left]
    await it.press("z")
    assert it.completion == order[0]


@pytest.mark.few(2)
@pytest.mark.parametrize("restart", [False, True], ids=["at once", "after a restart"])
async def test_both_tasks_are_undone_one_after_the_other(tmp_path: Path, restart: bool) -> None:
    project = make(tmp_path, "labelled")
    async with desk(project) as it:
        order = await label_some(it, "1", "a", "8")
        if not restart:
            await walk_back_both(project, it, order)
    if restart:
        async with desk(project) as it:
            await walk_back_both(project, it, order)
    assert in_force(project) == []
    assert not ledger.states_differ(project)
    project.close()


async def walk_back_both(project: Project, it: Desktop, order: list[int]) -> None:
    for left, completion in reversed(list(enumerate(order))):
        await it.press("z")
        assert (it.completion, "! type missing" in it.line()) == (completion, True)
        assert len(in_force(project)) == 2 * left + 1
        await it.press("z")
        assert (it.completion, "· not labelled" in it.line()) == (completion, True)
        assert len(in_force(project)) == 2 * left


@pytest.mark.soak
async def test_undone_items_return_in_the_same_order(project: Project) -> None:
    async with desk(project) as it:
        seen = []
        for key in "101":
            seen.append(it.completion)
            await it.press(key)
        ahead = it.completion
        await it.press("z", "z", "z")
        again = []
        for key in "011":
            again.append(it.completion)
            await it.press(key)
        assert again == seen
        assert it.completion == ahead
    values = {subject: value for _, subject, value in in_force(project)}
    assert values == dict(zip(seen, ("incorrect", "correct", "correct"), strict=True))


async def test_correction_is_undone_before_its_label(project: Project) -> None:
    async with desk(project) as it:
        first = it.completion
        await it.press("1", "1", "left_square_bracket", "left_square_bracket", "0", "z")
        assert (it.completion, "✓ correct" in it.line()) == (first, True)
        await it.press("z")
        assert it.completion != first
        await it.press("z")
        assert it.completion == first
    assert in_force(project) == []


@pytest.mark.few(2)
@pytest.mark.parametrize("purpose", ["check", "repeat"])
async def test_checks_and_repeats_are_undone_like_any_label(project: Project, purpose: str) -> None:
    async with desk(project) as it:
        await it.press("1")
        second = it.completion
        with project.database.write() as connection:
            connection.execute(
                "UPDATE assignments SET purpose = ?, meant_for = annotator_id, batch_id = NULL "
                "WHERE task = 'correctness' AND subject = ? AND annotator_id IS NOT NULL",
                (purpose, second),
            )
        await it.press("1")
        kinds = rows(project, "SELECT kind FROM label_events ORDER BY id")
        assert kinds == [("label",), (purpose,)]
        assert it.title().startswith("amira · 2 done")
        await it.press("z")
        assert (it.completion, "· not labelled" in it.line()) == (second, True)
        await it.press("0")
        assert [value for _, _, value in in_force(project)] == ["correct", "incorrect"]
        await it.press("z", "z")
        assert in_force(project) == []


async def test_undo_after_a_skip_returns_to_the_skipped_item(project: Project) -> None:
    async with desk(project) as it:
        await it.press("1")
        labelled = labels(project)
        skipped = it.completion
        await it.press("l")
        after = it.completion
        assert after != skipped
        await it.press("z")
        assert (it.completion, labels(project)) == (skipped, labelled)
        await it.press("0")
        assert (it.completion, labels(project)) == (after, [*labelled, (skipped, "incorrect")])
