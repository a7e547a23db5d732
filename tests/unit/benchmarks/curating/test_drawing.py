"""A draw is frozen once, is reproducible, and becomes another version only on request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.benchmarks.curating.pools import add_questions, pool_of, typed
from workbench.benchmarks.curating.drawing import draw
from workbench.benchmarks.curating.pool import exclude
from workbench.benchmarks.curating.types import PersonType, accept_types, pool_status, say_types
from workbench.benchmarks.options import DrawOptions
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.measuring.records.curation import Scope

WISH = DrawOptions(name="pool", per_type=3)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = pool_of(tmp_path, typed(40))
    yield opened
    opened.close()


def members(project: Project, name: str = "pool") -> dict[str, tuple[str, str | None]]:
    reader = project.database.reader()
    keys = dict(reader.execute("SELECT id, key FROM questions").fetchall())
    found = sets.require(reader, SetName.parse(name))
    return {keys[one.question]: (one.stratum, one.subtype) for one in sets.questions(reader, found.id)}


def test_a_draw_is_frozen_with_its_report(project: Project) -> None:
    planned = draw(project, replace(WISH, dry_run=True))
    assert (planned.version, sets.all_sets(project.database.reader())) == (None, [])
    report = draw(project, WISH)
    assert (report.version, report.questions, report.unchanged, report.shortfall) == (1, 12, False, ())
    assert report.stages == {"in the pool": 40, "not out": 40, "typed": 40, "of these types": 40, "drawn": 12}
    assert (report.origins, report.types) == ({"file": 12}, {"A1": 3, "B5": 3, "C1": 3, "D2": 3})
    assert sorted(members(project).values()) == sorted(
        [(letter, subtype) for letter, subtype in (("A", "A1"), ("B", "B5"), ("C", "C1"), ("D", "D2")) for _ in "123"]
    )
    assert pool_status(project, Scope()).total.drawn == {"pool": 12}
    assert draw(project, WISH).unchanged
    assert len(sets.all_sets(project.database.reader())) == 1


def test_a_different_draw_needs_a_new_version(project: Project) -> None:
    draw(project, WISH)
    before = members(project)
    gone = next(iter(before))
    exclude(project, [gone], reason="proof", by="amira")
    with pytest.raises(UsageError, match="pool@1 already exists with other contents"):
        draw(project, WISH)
    with pytest.raises(UsageError, match="seed"):
        draw(project, DrawOptions(name="pool", per_type=3, seed=1))
    report = draw(project, replace(WISH, new_version=True))
    assert (report.version, report.excluded) == (2, {"proof": 1})
    assert before.keys() - members(project).keys() == {gone}
    assert members(project, "pool@1") == before


def test_more_questions_change_it_only_as_far_as_they_must(project: Project, tmp_path: Path) -> None:
    draw(project, WISH)
    before = members(project)
    add_questions(project, tmp_path, typed(8, first=40))
    draw(project, replace(WISH, new_version=True))
    after = members(project)
    assert len(after) == 12
    assert after.keys() - before.keys() <= {f"q{number}" for number in range(40, 48)}


def test_two_databases_draw_the_same(tmp_path: Path) -> None:
    found = []
    for name, rows in (("a", typed(40)), ("b", dict(reversed(typed(40).items())))):
        (tmp_path / name).mkdir()
        other = pool_of(tmp_path / name, rows)
        found.append((draw(other, WISH).digest, sorted(members(other))))
        other.close()
    assert found[0] == found[1]


def test_shortfalls_are_reported(project: Project) -> None:
    report = draw(project, DrawOptions(name="big", per_type=11, types="B,Z"))
    assert [(one.stratum, one.wanted, one.available, one.taken) for one in report.shortfall] == [
        ("B", 11, 10, 10),
        ("Z", 11, 0, 0),
    ]
    assert (report.questions, report.stages["of these types"]) == (10, 10)
    capped = draw(project, DrawOptions(name="capped", per_type=5, cap_source=2, dry_run=True))
    assert (capped.questions, capped.sources) == (6, {f"math/set-{number}": 2 for number in range(3)})


def test_types_of_people_go_first_and_proposals_can_be_left_out(project: Project) -> None:
    say_types(project, [PersonType(question_id="q0", subtype="D1")], by="amira")
    alone = draw(project, DrawOptions(name="d", per_type=11, types="D", dry_run=True))
    assert (alone.questions, alone.origins) == (10, {"file": 10})
    assert accept_types(project, Scope(), "people", by="amira").imported == 1
    report = draw(project, DrawOptions(name="d", per_type=11, types="D", confirmed=True))
    assert (report.questions, report.origins) == (11, {"file": 10, "people": 1})
    assert members(project, "d")["q0"] == ("D", "D1")


def test_nothing_and_names_of_nothing_are_rejected(project: Project) -> None:
    with pytest.raises(UsageError, match="There are no items for the set 'none': nothing matches"):
        draw(project, DrawOptions(name="none", per_type=1, types="Z"))
    with pytest.raises(UsageError):
        draw(project, DrawOptions(name="pool@2", per_type=1))
    with pytest.raises(UsageError, match="There are no questions of that data set"):
        draw(project, DrawOptions(name="pool", per_type=1, scope=Scope(dataset="nowhere")))
