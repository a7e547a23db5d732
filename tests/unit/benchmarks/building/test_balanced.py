"""Balanced benchmarks: exact or short, and reasons for excluded items."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.pools import PoolQuestion, make_pool
from workbench.benchmarks.building.balanced import build_balanced
from workbench.benchmarks.options import BalancedOptions
from workbench.benchmarks.quotas import PAPER
from workbench.core.database import sets
from workbench.core.errors import UsageError
from workbench.core.label import LabelLine
from workbench.core.project import Project
from workbench.core.sets import Fill, ItemMember, SetName, SetReport, Stratum
from workbench.labelling.labels import put_lines

PRESET = BalancedOptions(quota="verifybench")


def members(project: Project, name: str = "balanced") -> list[ItemMember]:
    reader = project.database.reader()
    return list(sets.items(reader, sets.require(reader, SetName.parse(name)).id))


def spread(count: int, without: str = "") -> list[PoolQuestion]:
    """So many questions, the subtypes of the paper in turn."""
    codes = [code for code in PAPER if code != without]
    return [PoolQuestion(f"q{number}", codes[number % len(codes)], "+-") for number in range(count)]


def test_a_pool_of_8000_questions_gives_the_papers_set(tmp_path: Path) -> None:
    project = make_pool(tmp_path, spread(8_000))
    report = build_balanced(project, PRESET)

    assert (report.questions, report.tuples, report.shortfall) == (1_000, 2_000, ())
    assert {one.name: 2 * one.taken for one in report.strata} == PAPER
    assert report.types == {"A": 500, "B": 500, "C": 500, "D": 500}
    assert (report.correct, report.always_incorrect) == (1_000, 0.5)
    taken = members(project)
    assert Counter(one.gold for one in taken) == {True: 1_000, False: 1_000}
    assert {one.gold_from for one in taken} == {"agreed", "adjudicated"}
    # On every Python the same.
    assert report.digest == "54a8eb6e996473d8bd987a1f34828295"


def test_without_sets_the_pool_is_short_of_exactly_25_questions(tmp_path: Path) -> None:
    project = make_pool(tmp_path, spread(3_000, without="B4"))
    report = build_balanced(project, PRESET)

    assert (report.questions, report.tuples) == (975, 1_950)
    told = {one.stratum: (one.wanted, one.available, one.taken) for one in report.shortfall}
    assert told["B4"] == (25, 0, 0)
    assert told["B"][0] - told["B"][2] == 25
    assert set(told) == {"B", "B4"}
    assert report.shortfall[1].why == "0 of 0 questions have a correct and an incorrect completion"


@pytest.mark.parametrize(("fill", "questions"), [("none", 8), ("subtypes", 8), ("types", 9)])
def test_shortages_are_filled_only_on_request(tmp_path: Path, fill: Fill, questions: int) -> None:
    asked = [
        *[PoolQuestion(f"a{number}", "A1", "+-") for number in range(20)],
        *[PoolQuestion(f"b{number}", "B4", "+-") for number in range(2)],
        *[PoolQuestion(f"c{number}", "C1", "+-") for number in range(3)],
    ]
    project = make_pool(tmp_path, asked)
    report = build_balanced(project, BalancedOptions(per_type=3, fill=fill))

    assert report.questions == (12 if fill == "types" else questions)
    assert [one.stratum for one in report.shortfall] == ["B", "D"]


def test_an_unknown_code_stays_under_its_letter(tmp_path: Path) -> None:
    asked = [PoolQuestion(f"q{number}", "A9", "+-") for number in range(3)]
    project = make_pool(tmp_path, asked)

    assert build_balanced(project, BalancedOptions(per_type=2, name="whole")).types == {"A": 4}
    assert {one.subtype for one in members(project, "whole")} == {"A9"}
    preset = build_balanced(project, BalancedOptions(per_type=2, quota="verifybench", dry_run=True))
    assert Stratum(name="A9", population=3, quota=0, taken=0) in preset.strata
    filled = build_balanced(project, BalancedOptions(per_type=2, quota="verifybench", fill="subtypes", dry_run=True))
    assert filled.types == {"A": 4}


def test_only_final_labels_count_and_the_rest_is_counted(tmp_path: Path) -> None:
    asked = [
        PoolQuestion("q1", "A1", "+-xlu."),
        PoolQuestion("q2", "A1", "+x"),
        PoolQuestion("q3", "A1", "uu"),
        PoolQuestion("q4", "A1", "-.."),
        PoolQuestion("q5", None, "+-"),
    ]
    project = make_pool(tmp_path, asked)
    report = build_balanced(project, BalancedOptions(per_type=5))

    assert (report.questions, report.tuples) == (1, 2)
    assert report.excluded == {
        "unlabelled": 3,
        "proof": 3,
        "conflict": 2,
        "labelled": 1,
        "no_verdict": 1,
        "too_few_correct": 1,
        "too_few_incorrect": 1,
        "untyped": 1,
    }
    assert report.shortfall[0].why == (
        "1 of 4 questions have a correct and an incorrect completion; no completion is decided: 1; "
        "too few are correct: 1; too few are incorrect: 1"
    )
    assert report.stages == {"completions": 15, "labelled": 6, "questions": 5, "with_both": 1, "chosen": 1}


def test_items_that_wait_for_their_type_are_not_final(tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion("q1", "A1", "+-"), PoolQuestion("q2", "A1", "+-")])
    with project.database.write() as connection:
        # As where people are to settle types too, and have agreed on correctness alone.
        connection.execute("UPDATE item_states SET state = 'labelled' WHERE completion_id < 3")
    report = build_balanced(project, BalancedOptions(per_type=2))
    assert (report.tuples, report.excluded) == (2, {"labelled": 2, "no_verdict": 1})


def test_the_author_of_an_exclusion_is_recorded(tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion("q1", "A1", "+-."), PoolQuestion("q2", "A1", "..")])
    said = [
        LabelLine(completion_id="q1-3", annotator=name, verdict="unsuitable", reason="proof", note=f"{name} says so")
        for name in ("ann", "ben")
    ]
    assert put_lines(project, said).imported == 2
    report = build_balanced(project, BalancedOptions(per_type=1))

    (out,) = report.left_out
    assert (out.completion_id, out.reason, out.how) == ("q1-3", "proof", "agreed")
    assert (out.people, out.notes) == (("ann", "ben"), ("ann says so", "ben says so"))


def test_imported_gold_needs_the_option_and_is_named(tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion("q1", "A1", "+-"), PoolQuestion("q2", "A1", "xu")], gold=True)
    with project.database.write() as connection:
        connection.execute("DELETE FROM item_states")
        connection.execute("UPDATE changes SET last_id = last_id")

    with pytest.raises(UsageError, match="unlabelled 4"):
        build_balanced(project, BalancedOptions(per_type=1))
    report = build_balanced(project, BalancedOptions(per_type=1, gold="imported"))
    assert (report.gold, report.tuples, report.excluded) == ("imported", 2, {"no_gold": 2, "no_verdict": 1})
    assert {one.gold_from for one in members(project)} == {"imported"}
    assert sets.all_sets(project.database.reader())[0].guideline is None


def test_peoples_type_is_the_one_in_force(tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion("q1", "A1", "+-"), PoolQuestion("q2", "B4", "+-")])
    with project.database.write() as connection:
        connection.execute("UPDATE item_states SET subtype = 'C4' WHERE completion_id < 3")
    report = build_balanced(project, BalancedOptions(per_type=1))

    assert report.types == {"B": 2, "C": 2}
    assert {one.subtype for one in members(project)} == {"C4", "B4"}


def test_caps_hold_and_models_without_items_are_named(tmp_path: Path) -> None:
    asked = [
        PoolQuestion(f"q{number}", "A1", "+-+-", f"math/{number % 2}", models=("a", "b", "c", "d"))
        for number in range(10)
    ]
    project = make_pool(tmp_path, asked)
    report = build_balanced(project, BalancedOptions(per_type=8, cap_source=3, cap_model=3))

    assert report.sources == {"math/0": 6, "math/1": 6}
    assert max(report.models.values()) <= 3
    assert report.shortfall[0].why == "the caps let in no more"
    one = build_balanced(project, BalancedOptions(per_type=1, name="one"))
    assert len(one.missing_models) == 2


def test_checks_and_excluded_questions_are_not_included(tmp_path: Path) -> None:
    project = make_pool(tmp_path, [PoolQuestion(f"q{number}", "A1", "+-") for number in range(4)])
    with project.database.write() as connection:
        connection.execute("INSERT INTO annotators (id, name, created_at) VALUES (1, 'ann', '')")
        connection.execute("INSERT INTO check_items VALUES (1, 'correct', '')")
        rows = [(3, "exclude", "duplicate"), (5, "exclude", "proof"), (5, "restore", None)]
        connection.executemany(
            "INSERT INTO curation (question_id, kind, reason, annotator_id, created_at) VALUES ((SELECT question_id "
            "FROM completions WHERE id = ?), ?, ?, 1, '')",
            rows,
        )
    report = build_balanced(project, BalancedOptions(per_type=9))

    assert report.excluded == {"duplicate": 2, "check": 1, "too_few_correct": 1}
    assert {one.item for one in members(project)} == {5, 6, 7, 8}


def test_a_file_can_define_the_quotas(tmp_path: Path) -> None:
    project = make_pool(tmp_path, spread(180))
    file = tmp_path / "quotas.toml"
    file.write_text("[questions]\nA1 = 2\nC = 3\n", encoding="utf-8")
    report = build_balanced(project, BalancedOptions(quota=str(file)))

    assert {one.name: one.taken for one in report.strata if one.taken} == {"A1": 2, "C": 3}
    with pytest.raises(UsageError, match="A file of quotas sets all numbers of questions"):
        build_balanced(project, BalancedOptions(quota=str(file), per_type=4))
    for text, wrong in ((b"[questions", "Expected"), (b"\xff", "utf-8"), (b"# " + b"x" * 2**20, "larger")):
        file.write_bytes(text)
        with pytest.raises(UsageError, match=rf"quotas\.toml.*{wrong}"):
            build_balanced(project, BalancedOptions(quota=str(file)))


def chosen(project: Project, *conditions: str) -> SetReport:
    return build_balanced(project, BalancedOptions(per_type=4, where=conditions, name=f"s{len(conditions)}"))


def test_a_selection_restricts_the_pool(tmp_path: Path) -> None:
    asked = [PoolQuestion(f"q{number}", "A1", "+-", f"math/{number % 2}") for number in range(8)]
    project = make_pool(tmp_path, asked)

    assert chosen(project, "source=math/1").sources == {"math/1": 8}
    assert chosen(project, "set=s1", "question_id=q1").tuples == 2
