"""Hard benchmarks: votes, the queue, labels, and the final items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.helpers import make_project
from tests.unit.measuring.reviewing.desk import add_later_run, add_run
from workbench.benchmarks.building.comparing import set_detail
from workbench.benchmarks.building.hard import build_hard
from workbench.benchmarks.options import HardOptions
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.core.sets import SetName, Shortfall, Stratum
from workbench.labelling.labels import put_lines
from workbench.measuring import notes

FIVE = ("a", "b", "c", "d", "e")
VOTES = ("+++--", "---++", "+++++", "++++-", "+-+-?", "+-+-!", "+-+-.", "+-+-+", "-+-+-", "--+-+")
"""Five judges' votes on an item: the first two and the last three are split two against three."""


def voted(folder: Path, votes: Sequence[str] = VOTES, sources: Sequence[str] = ("math/x", "logic/y")) -> Project:
    """Items c0, c1 … of two sources in turn, with a run of each of five judges."""
    rows = [
        {
            "question_id": f"q{number}",
            "completion_id": f"c{number}",
            "source": sources[number % len(sources)],
            "subtype": "A1",
        }
        for number in range(len(votes))
    ]
    for row in rows:
        row["domain"] = str(row["source"]).partition("/")[0]
    project = make_project(folder, rows)
    for place, name in enumerate(FIVE):
        add_run(project, name, "".join(vote[place] for vote in votes))
    return project


def queued(project: Project, name: str = "hard-queue") -> list[str]:
    reader = project.database.reader()
    found = [one.item for one in sets.items(reader, sets.require(reader, SetName.parse(name)).id)]
    return [f"c{item - 1}" for item in found]


def drawn_of(project: Project, name: str) -> list[int]:
    """Count the items of a benchmark from each of the two sources."""
    second = sum(int(item[1:]) % 2 for item in queued(project, name))
    return [len(queued(project, name)) - second, second]


def say(project: Project, *said: tuple[str, str, str], role: str = "annotator") -> None:
    words = {"+": "correct", "-": "incorrect", "u": "unsuitable"}
    lines = [
        LabelLine(
            completion_id=item,
            annotator=person,
            verdict=words[sign],  # type: ignore[arg-type]
            reason="proof" if sign == "u" else None,
            role=role,  # type: ignore[arg-type]
        )
        for item, person, sign in said
    ]
    assert put_lines(project, lines).refused == 0


def test_only_fully_voted_items_that_are_split_so_are_queued(tmp_path: Path) -> None:
    project = voted(tmp_path)
    report = build_hard(project, HardOptions(judges=FIVE))

    assert queued(project) == ["c0", "c1", "c7", "c8", "c9"]
    assert report.splits == {"5:0": 1, "4:1": 1, "3:2": 5, "not_fully_voted": 3}
    assert report.stages == {"candidates": 10, "fully_voted": 7, "split": 5, "sampled": 5}
    assert (report.name, report.kind, report.judges) == (
        "hard-queue",
        "queue",
        dict(zip(FIVE, range(1, 6), strict=True)),
    )
    assert report.next == "workbench assign DB --where set=hard-queue --annotators A,B"
    assert report.shortfall == (
        Shortfall(stratum=None, of="tuples", wanted=2_000, available=5, taken=5, why="no more items have this split"),
    )


def test_another_minority(tmp_path: Path) -> None:
    project = voted(tmp_path)
    build_hard(project, HardOptions(judges=FIVE, minority=1))
    assert queued(project) == ["c3"]


def test_abstentions_do_not_affect_the_choice_of_fully_voted_rows(tmp_path: Path) -> None:
    votes = [f"{'+' if number % 2 else '-'}++--" for number in range(200)]
    for folder in ("without", "with"):
        (tmp_path / folder).mkdir()
    without, with_some = votes, [f"{vote[:4]}?" if number % 100 == 7 else vote for number, vote in enumerate(votes)]
    kept = []
    for folder, some in (("without", without), ("with", with_some)):
        project = voted(tmp_path / folder, some)
        build_hard(project, HardOptions(judges=FIVE, annotate=200))
        kept.append(queued(project))
    assert [item for item in kept[0] if item not in ("c7", "c107")] == kept[1]


def test_a_queue_is_divided_by_largest_remainders_and_is_the_same_everywhere(tmp_path: Path) -> None:
    # Two of every three items are from the first source.
    project = voted(tmp_path, ["++---" if number % 2 == 0 or number % 4 == 1 else "+++++" for number in range(40)])
    report = build_hard(project, HardOptions(judges=FIVE, annotate=7))

    assert report.strata == (
        Stratum(name="logic/y", population=10, quota=2, taken=2),
        Stratum(name="math/x", population=20, quota=5, taken=5),
    )
    assert drawn_of(project, "hard-queue") == [5, 2]
    assert report.digest == "2dfb6cb885efa00d9e58b41b589053db"


def test_strata_may_share_evenly_and_the_set_goes_on_as_its_queue(tmp_path: Path) -> None:
    project = voted(tmp_path, ["++---" if number % 2 == 0 or number % 4 == 1 else "+++++" for number in range(40)])
    asked = HardOptions(judges=FIVE, annotate=7, strata="equal")
    report = build_hard(project, asked)

    assert report.strata == (
        Stratum(name="logic/y", population=10, quota=4, taken=4),
        Stratum(name="math/x", population=20, quota=3, taken=3),
    )
    assert drawn_of(project, "hard-queue") == [3, 4]
    say(project, *((item, person, "+") for item in queued(project) for person in ("amira", "ben")))
    # Omitted options default to those the queue was frozen with.
    final = build_hard(project, HardOptions(final=4))
    assert [(one.name, one.quota, one.taken) for one in final.strata] == [("logic/y", 2, 2), ("math/x", 2, 2)]
    assert drawn_of(project, "hard") == [2, 2]
    assert set_detail(project, "hard-queue").config["strata"] == "equal"
    with pytest.raises(UsageError, match="hard-queue"):
        build_hard(project, HardOptions(strata="proportional", annotate=7))


def test_a_small_stratum_gives_back_its_shortage(tmp_path: Path) -> None:
    project = voted(tmp_path, ["++---"] * 12, ("math/x", "math/x", "math/x", "logic/y"))
    build_hard(project, HardOptions(judges=FIVE, annotate=10, strata="equal"))
    assert len(queued(project)) == 10


def test_added_items_change_as_little_as_possible(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    few, more = voted(tmp_path, ["++---"] * 40), voted(tmp_path / "more", ["++---"] * 60)
    for project in (few, more):
        build_hard(project, HardOptions(judges=FIVE, annotate=20))
    gone = set(queued(few)) - set(queued(more))
    assert len(gone) == len({item for item in queued(more) if int(item[1:]) >= 40})


def test_three_people_with_known_labels_give_the_expected_set(tmp_path: Path) -> None:
    project = voted(tmp_path)
    asked = HardOptions(judges=FIVE, final=3)
    build_hard(project, asked)

    # c0: both say correct; c1: a conflict, ruled incorrect; c7: both unsuitable; c8: one waits; c9: both incorrect.
    say(project, ("c0", "ann", "+"), ("c0", "ben", "+"), ("c1", "ann", "+"), ("c1", "ben", "-"))
    say(project, ("c7", "ann", "u"), ("c7", "ben", "u"), ("c8", "ann", "-"), ("c9", "ann", "-"), ("c9", "ben", "-"))
    waiting = build_hard(project, asked)
    assert (waiting.kind, waiting.version, waiting.tuples) == ("hard", None, 2)
    assert waiting.excluded == {"conflict": 1, "labelled": 1, "proof": 1}
    assert waiting.next == "workbench assign DB --where set=hard-queue --annotators A,B"

    say(project, ("c8", "ben", "-"))
    assert build_hard(project, asked).next == "workbench conflicts DB list --as NAME"
    say(project, ("c1", "cy", "-"), role="adjudicator")
    report = build_hard(project, asked)

    assert (report.version, report.tuples, report.correct) == (1, 3, sum(one for one in golds(project) if one))
    assert report.stages == {
        "candidates": 10,
        "fully_voted": 7,
        "split": 5,
        "sampled": 5,
        "annotated": 5,
        "suitable": 4,
        "final": 3,
    }
    assert report.excluded == {"proof": 1}
    assert [(one.completion_id, one.people) for one in report.left_out] == [("c7", ("ann", "ben"))]
    whole = build_hard(project, HardOptions(final=9, new_version=True))
    assert whole.correct == 1
    assert whole.always_incorrect == 0.75
    assert whole.shortfall[0].why == "of 5 queued 1 unsuitable"
    assert golds(project) == [True, False, False, False]


def test_the_runs_that_chose_stay_with_both_sets(tmp_path: Path) -> None:
    project = voted(tmp_path)
    build_hard(project, HardOptions(judges=FIVE))
    say(project, *((item, person, "-") for item in queued(project) for person in ("ann", "ben")))
    build_hard(project, HardOptions())
    assert [one.runs for one in sets.all_sets(project.database.reader())] == [(1, 2, 3, 4, 5)] * 2


def golds(project: Project) -> list[bool | None]:
    reader = project.database.reader()
    return [one.gold for one in sets.items(reader, sets.require(reader, SetName("hard")).id)]


def test_partial_goes_on_with_what_is_labelled(tmp_path: Path) -> None:
    project = voted(tmp_path)
    build_hard(project, HardOptions(judges=FIVE))
    say(project, ("c0", "ann", "+"), ("c0", "ben", "+"))
    report = build_hard(project, HardOptions(partial=True))

    assert (report.version, report.tuples) == (1, 1)
    assert report.shortfall[0].why == "of 5 queued 4 waiting for labels"


def test_a_queue_is_unchanged_for_the_same_request(tmp_path: Path) -> None:
    project = voted(tmp_path)
    first = build_hard(project, HardOptions(judges=FIVE))
    assert first.version == 1
    # A later run, such as an evaluation, and the order of judges change nothing.
    add_later_run(project, "a", "-" * len(VOTES))
    assert build_hard(project, HardOptions(judges=FIVE[::-1])).kind == "hard"
    assert build_hard(project, HardOptions()).kind == "hard"

    with pytest.raises(UsageError, match=r"hard-queue@1 already exists with other contents: minority 2, now 1"):
        build_hard(project, HardOptions(judges=FIVE, minority=1))
    with pytest.raises(UsageError, match="seed 0, now 4"):
        build_hard(project, HardOptions(judges=FIVE, seed=4))
    assert build_hard(project, HardOptions(judges=FIVE, runs={"a": 6}, new_version=True)).version == 2
    assert build_hard(project, HardOptions(where=("source=math/x",), new_version=True)).stages["candidates"] == 5


def test_changed_labels_need_a_new_version(tmp_path: Path) -> None:
    project = voted(tmp_path)
    build_hard(project, HardOptions(judges=FIVE))
    for item in queued(project):
        say(project, (item, "ann", "-"), (item, "ben", "-"))
    assert build_hard(project, HardOptions()).version == 1
    assert build_hard(project, HardOptions()).unchanged
    say(project, ("c0", "cy", "+"), role="adjudicator")
    with pytest.raises(UsageError, match="hard@1 already exists with other contents: other gold: 1"):
        build_hard(project, HardOptions())
    assert build_hard(project, HardOptions(new_version=True)).version == 2


def test_the_judges_are_marked_and_their_flips_counted(tmp_path: Path) -> None:
    project = voted(tmp_path)
    build_hard(project, HardOptions(judges=FIVE))
    assert notes.judges(project) == {"sample": list(FIVE)}

    add_later_run(project, "a", "-++++++?++")
    flips = {one.judge: one for one in set_detail(project, "hard-queue").flips}
    # It judged c0, c1, c7, c8 and c9 first as + - + - -, then as - + ? + +.
    assert (flips["a"].later, flips["a"].both, flips["a"].flipped, flips["a"].rate) == (6, 4, 4, 1.0)
    assert (flips["b"].later, flips["b"].rate) == (None, None)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (HardOptions(), "No judge is named"),
        (HardOptions(judges=("a", "b")), "an odd number of judges, 3 or more, not 2"),
        (HardOptions(judges=("a", "b", "c", "d"), minority=1), "an odd number of judges, 3 or more, not 4"),
        (HardOptions(judges=("a",)), "an odd number of judges, 3 or more, not 1"),
        (HardOptions(judges=("a", "a", "b")), "named twice"),
        (HardOptions(judges=("a", "b", "c"), minority=2), "2 of 3 judges are not a minority"),
        (HardOptions(judges=("a", "b", "x")), "No complete run of 'x'"),
        (
            HardOptions(judges=("a", "b", "c"), minority=1, runs={"d": 1}),
            "A run is given for a verifier that is not named as a judge: d",
        ),
        (HardOptions(judges=("a", "b", "c"), minority=1, runs={"a": 2}), "Run 2 is of 'b'"),
        (HardOptions(judges=("a", "b", "always-incorrect"), minority=1), "has no run"),
        (
            HardOptions(judges=FIVE, where=("question_id=q2",)),
            "There are no items for the set 'hard-queue': nothing matches",
        ),
    ],
)
def test_errors_are_reported(tmp_path: Path, asked: HardOptions, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        build_hard(voted(tmp_path), asked)


def test_a_plan_writes_nothing(tmp_path: Path) -> None:
    project = voted(tmp_path)
    assert build_hard(project, HardOptions(judges=FIVE, dry_run=True)).version is None
    assert sets.all_sets(project.database.reader()) == []
    assert notes.judges(project) == {}
