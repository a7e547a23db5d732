"""Picks: 2 + 2 per question by the verdicts of a judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pools import PoolQuestion, make_pool
from tests.unit.measuring.reviewing.desk import add_later_run, add_run, label
from workbench.benchmarks.building.picks import build_picks
from workbench.benchmarks.options import PicksOptions
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.sets import NewSet, QuestionMember, SetName, Stratum
from workbench.measuring import notes

DRAW = ("set=draw",)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make four questions with six completions each and one without completions."""
    asked = [
        PoolQuestion("q1", "A1", "......"),
        PoolQuestion("q2", "A1", "......"),
        PoolQuestion("q3", "B4", "......"),
        PoolQuestion("q4", None, "......"),
        PoolQuestion("q5", "C1", ""),
    ]
    made = make_pool(tmp_path, asked)
    add_run(made, "judge", "+++---" + "++?!-." + "++-???" + "?!....")
    return made


def draw(project: Project, *questions: int) -> None:
    new = NewSet(
        name="draw",
        kind="draw",
        seed=0,
        config="{}",
        report="{}",
        questions=tuple(QuestionMember(question=one, stratum="D", subtype="D1") for one in questions),
    )
    with project.database.write() as connection:
        sets.put(connection, new)


def test_a_question_gives_two_and_two_or_is_counted(project: Project) -> None:
    report = build_picks(project, PicksOptions(judge="judge"))

    assert (report.questions, report.tuples) == (1, 4)
    assert report.excluded == {"too_few_incorrect": 2, "no_completions": 1, "no_verdict": 1}
    assert report.stages == {
        "questions": 5,
        "completions": 24,
        "incorrect": 5,
        "correct": 7,
        "abstain": 5,
        "error": 2,
        "not_judged": 5,
        "picked": 1,
    }
    assert report.strata[0] == Stratum(name="A", population=2, quota=2, taken=1)
    assert [(one.stratum, one.taken, one.wanted, one.why) for one in report.shortfall] == [
        ("A", 1, 2, "too few are incorrect: 1"),
        ("B", 0, 1, "too few are incorrect: 1"),
        ("untyped", 0, 1, "no completion is decided: 1"),
    ]


def test_one_and_one(project: Project) -> None:
    report = build_picks(project, PicksOptions(judge="judge", each=1))
    assert (report.questions, report.tuples) == (3, 6)


def test_the_judge_is_noted_and_the_run_stored(project: Project) -> None:
    build_picks(project, PicksOptions(judge="judge"))
    (stored,) = sets.all_sets(project.database.reader())

    assert (stored.kind, stored.runs) == ("picks", (1,))
    assert notes.judges(project) == {"pool": ["judge"]}


def test_picks_from_a_draw_use_its_questions_and_types(project: Project) -> None:
    draw(project, 1, 5)
    report = build_picks(project, PicksOptions(judge="judge", where=DRAW))

    assert (report.tuples, report.excluded, report.stages["questions"]) == (4, {"no_completions": 1}, 2)
    assert [one.name for one in report.strata] == ["D"]


def test_picks_stay_as_they_are_when_questions_are_added(project: Project) -> None:
    draw(project, 1, 2)
    build_picks(project, PicksOptions(judge="judge", where=DRAW, each=1))
    first = build_picks(project, PicksOptions(judge="judge", name="all", each=1))
    reader = project.database.reader()
    one, other = (
        {member.item for member in sets.items(reader, sets.require(reader, SetName(name)).id)}
        for name in ("picks", "all")
    )
    assert one < other
    assert first.tuples == 6


def test_the_same_again_is_unchanged_and_another_run_is_rejected(project: Project) -> None:
    first = build_picks(project, PicksOptions(judge="judge"))
    again = build_picks(project, PicksOptions(judge="judge"))
    assert (again.version, again.digest, again.unchanged) == (1, first.digest, True)

    add_later_run(project, "judge", "++--++" * 4)
    with pytest.raises(
        UsageError, match=r"picks@1 already exists with other contents: judges \{judge:1\}, now \{judge:2\}"
    ):
        build_picks(project, PicksOptions(judge="judge"))
    assert build_picks(project, PicksOptions(judge="judge", new_version=True)).version == 2
    assert build_picks(project, PicksOptions(judge="judge", run=1, new_version=True)).version == 3


def test_labels_change_no_picks(project: Project) -> None:
    first = build_picks(project, PicksOptions(judge="judge"))
    for person in ("ann", "ben"):
        label(project, 1, {person: "unsuitable"})
    again = build_picks(project, PicksOptions(judge="judge"))
    assert (again.digest, again.unchanged) == (first.digest, True)


def test_a_plan_writes_nothing(project: Project) -> None:
    report = build_picks(project, PicksOptions(judge="judge", dry_run=True))

    assert (report.version, report.tuples) == (None, 4)
    assert sets.all_sets(project.database.reader()) == []
    assert notes.judges(project) == {}


@pytest.mark.parametrize(
    ("judge", "condition", "told"),
    [
        ("nobody", "state=unlabelled", "No complete run of 'nobody'"),
        ("always-incorrect", "state=unlabelled", "has no run"),
        ("judge", "set=no", "There is no set 'no'"),
        ("judge", "question_id=q2", "There are no items for the set 'picks': too_few_incorrect 1"),
    ],
)
def test_errors_are_reported(project: Project, judge: str, condition: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        build_picks(project, PicksOptions(judge=judge, where=(condition,)))
