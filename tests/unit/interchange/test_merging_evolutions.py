"""Steps that other machines took with the same problems join an evolution: the same as in one, once, in any order."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from tests.growing import ActingModel, ActingSandbox, own_project
from workbench.coding.evolution import evolved, evolving
from workbench.coding.evolution.tables import evolution_text
from workbench.coding.records.evolution import EvolutionSettings
from workbench.core.project import Project, open_project
from workbench.core.selection import Shard
from workbench.data.store.tests import problems_of
from workbench.interchange.importing import import_files, plan_import
from workbench.interchange.merging import merge_runs

SETTINGS = EvolutionSettings(model="acting", rounds=2)
SUITES = ["base", "grown-round-1", "grown-round-2", "grown"]
PROBLEMS = 6


def evolve(project: Project, shard: Shard | None = None, settings: EvolutionSettings = SETTINGS) -> None:
    evolving.evolve(project, evolving.begin(project, "grown", settings), ActingModel(), ActingSandbox(), shard=shard)


def result(path: Path) -> bytes:
    """All that an evolution leaves: its steps, its report, its lines for training and its suites."""
    with closing(open_project(path)) as project:
        row = evolved.evolution(project, "grown")
        steps = (
            project.database.reader()
            .execute("SELECT question_id, position, step, document FROM evolution_steps ORDER BY 1, 2")
            .fetchall()
        )
        suites = problems_of(project.database, [step[0] for step in steps], SUITES)
        return msgspec.json.encode([steps, evolved.report(project, row), list(evolved.lines(project, row)), suites])


class Grown:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        made = own_project(folder, PROBLEMS)
        made.close()
        self.empty = made.path
        self.shares = []
        for place in (1, 2, 3):
            self.shares.append(self.copy(f"s{place}"))
            with closing(open_project(self.shares[-1])) as project:
                evolve(project, Shard((place,), 3))
        self.whole = self.copy("whole")
        with closing(open_project(self.whole)) as project:
            evolve(project)

    def copy(self, name: str, of: Path | None = None) -> Path:
        return Path(shutil.copyfile(of or self.empty, self.folder / f"{name}.db"))


@pytest.fixture
def grown(tmp_path: Path) -> Grown:
    return Grown(tmp_path)


def change(path: Path, statement: str, *parameters: object) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, parameters)
        connection.commit()


def test_shares_merged_in_any_order_are_the_evolution_in_one(grown: Grown) -> None:
    whole = result(grown.whole)
    for order in permutations(grown.shares):
        home = grown.copy("home")
        with closing(open_project(home)) as project:
            reports = merge_runs(project, [*order, order[0]])
        assert all(one.is_whole for one in reports)
        taken = [one.evolutions[0].taken for one in reports]
        assert sum(taken) == PROBLEMS * 6
        assert (taken[3], reports[3].evolutions[0].unchanged) == (0, taken[0])
        assert result(home) == whole


def test_a_part_says_how_many_problems_have_not_begun(grown: Grown) -> None:
    for path in grown.shares:
        with closing(open_project(path)) as project:
            report = evolved.report(project, evolved.evolution(project, "grown"))
            assert report.problems + report.unbegun == PROBLEMS
            assert (f"A part: {report.unbegun} more can evolve" in evolution_text(report)) is bool(report.unbegun)
    with closing(open_project(grown.whole)) as project:
        report = evolved.report(project, evolved.evolution(project, "grown"))
    assert report.unbegun == 0
    assert "A part" not in evolution_text(report)


def test_what_was_taken_in_part_is_gone_on_with(grown: Grown) -> None:
    part = grown.copy("part", grown.whole)
    change(part, "DELETE FROM evolution_steps WHERE position >= 3")
    change(part, "DELETE FROM tests WHERE suite_id IN (SELECT id FROM suites WHERE origin = 'evolved')")
    home = grown.copy("home")
    with closing(open_project(home)) as project:
        merge_runs(project, [part])
        (report,) = merge_runs(project, [grown.whole])
    assert (report.evolutions[0].taken, report.evolutions[0].unchanged) == (PROBLEMS * 3, PROBLEMS * 3)
    assert result(home) == result(grown.whole)


def test_solutions_are_found_by_what_they_are_not_by_their_place(grown: Grown, tmp_path: Path) -> None:
    """Home imported the same files in another order."""
    (tmp_path / "other").mkdir()
    for name in ("problems", "solutions"):
        lines = (tmp_path / f"{name}.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / "other" / f"{name}.jsonl").write_text("".join(lines[::-1]))
    home = open_project(tmp_path / "other" / "p.db", create=True)
    import_files(
        home, plan_import([tmp_path / "other" / f"{name}.jsonl" for name in ("problems", "solutions")]), dataset="own"
    )
    with closing(home):
        assert all(one.is_whole for one in merge_runs(home, grown.shares))
        with closing(open_project(grown.whole)) as whole:
            assert lines_of(home) == lines_of(whole)


def lines_of(project: Project) -> list[bytes]:
    """The lines for training, but for the places of problems in the database."""
    found = [msgspec.to_builtins(one) for one in evolved.lines(project, evolved.evolution(project, "grown"))]
    for line in found:
        del line["extra_info"]["index"]
    return sorted(map(msgspec.json.encode, found))


def test_another_evolution_of_the_name_is_refused(grown: Grown) -> None:
    home = grown.copy("home")
    with closing(open_project(home)) as project:
        evolve(project, Shard((1,), 3), structs.replace(SETTINGS, seed=4))
        before = result(home)
        (report,) = merge_runs(project, grown.shares[1:2])
    assert "started with other settings: seed was 4" in report.evolutions[0].refused
    assert not report.is_whole
    assert result(home) == before


def _other_growth(document: dict[str, Any]) -> None:
    document["proposed"] += 1


def _nowhere(document: dict[str, Any]) -> None:
    document["solutions"][0] = 9999


def test_steps_about_solutions_that_are_nowhere_are_left_out(grown: Grown) -> None:
    _spoil(grown.shares[0], 0, _nowhere)
    home = grown.copy("home")
    with closing(open_project(home)) as project:
        (report,) = merge_runs(project, grown.shares[:1])
    (merged,) = report.evolutions
    assert merged.left_out == 1
    assert "is not there" in report.items[0].why
    with closing(sqlite3.connect(home)) as connection:
        assert connection.execute("SELECT count(*) FROM evolution_steps").fetchone() == (merged.taken,)
        assert merged.taken % 6 == 0


def test_other_steps_here_stay_and_are_named(grown: Grown) -> None:
    before = result(grown.whole)
    _spoil(grown.shares[0], 1, _other_growth)
    with closing(open_project(grown.whole)) as project:
        (report,) = merge_runs(project, grown.shares[:1])
    assert (report.evolutions[0].conflicting, report.evolutions[0].taken) == (1, 0)
    assert report.items[0].why == "it has other steps here, which stay"
    assert result(grown.whole) == before


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("UPDATE tests SET source = source || ' ' WHERE question_id = {0}", "other tests here"),
        ("UPDATE question_text SET text = text || '!' WHERE id = {0}", "other texts here"),
        (
            "UPDATE completion_text SET text = text || ' ' WHERE id = (SELECT min(id) FROM completions "
            "WHERE question_id = {0})",
            "other texts here",
        ),
        ("DELETE FROM evolution_steps WHERE question_id = {0} AND position = 2", "a step is missing"),
    ],
)
def test_problems_that_are_others_are_left_out(grown: Grown, statement: str, why: str) -> None:
    with closing(sqlite3.connect(grown.shares[0])) as connection:
        (question,) = connection.execute("SELECT min(question_id) FROM evolution_steps").fetchone()
    change(grown.shares[0], statement.format(question))
    with closing(open_project(grown.copy("home"))) as project:
        (report,) = merge_runs(project, grown.shares[:1])
    assert report.evolutions[0].left_out == 1
    assert why in report.items[0].why


def test_a_pool_that_is_another_here_is_told(grown: Grown) -> None:
    """A solution that is excluded here is in no pool."""
    home = grown.copy("home")
    change(
        home,
        "INSERT INTO item_states (completion_id, state) "
        "SELECT min(id), 'excluded' FROM completions GROUP BY question_id",
    )
    with closing(open_project(home)) as project:
        (report,) = merge_runs(project, [grown.whole])
    assert (report.evolutions[0].taken, report.evolutions[0].left_out) == (0, PROBLEMS)
    assert report.reasons == {"its pool has other solutions here": PROBLEMS}


def _spoil(path: Path, position: int, spoil: Callable[[dict[str, Any]], None]) -> None:
    with closing(sqlite3.connect(path)) as connection:
        question, text = connection.execute(
            "SELECT question_id, document FROM evolution_steps WHERE position = ? ORDER BY 1", (position,)
        ).fetchone()
        document = json.loads(text)
        spoil(document)
        connection.execute(
            "UPDATE evolution_steps SET document = ? WHERE question_id = ? AND position = ?",
            (json.dumps(document), question, position),
        )
        connection.commit()
