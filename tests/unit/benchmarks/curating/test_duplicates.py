"""Duplicates are excluded from the pool, refer to their original, and can be restored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.unit.benchmarks.curating.pools import EVERYTHING, add_questions, pool_of
from workbench.benchmarks.curating import pool
from workbench.benchmarks.curating.duplicates import (
    find_duplicates,
    near_duplicates,
    signature,
    take_in_again,
    wording,
)
from workbench.benchmarks.curating.pool import exclude, out_questions
from workbench.core import project as transactions
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.measuring.records.curation import DUPLICATE, DuplicatesReport, Scope
from workbench.measuring.store import curation


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = pool_of(tmp_path)
    yield opened
    opened.close()


def found(project: Project, **options: bool) -> DuplicatesReport:
    return find_duplicates(project, Scope(), by="amira", **options)


def pairs(report: DuplicatesReport) -> dict[str, str]:
    assert isinstance(report.pairs, tuple)
    return {pair.question_id: pair.of for pair in report.pairs}


def test_the_one_of_which_most_is_known_stays_and_numbers_matter(project: Project) -> None:
    planned = found(project, dry_run=True, with_pairs=True)
    assert pairs(planned) == {"sum again": "sum", "planet again": "planet"}
    assert (planned.questions, planned.duplicates, planned.across, planned.excluded) == (7, 2, 1, 0)
    assert out_questions(project, Scope()) == []
    report = found(project)
    assert (report.excluded, "pairs" in msgspec.to_builtins(report)) == (2, False)
    assert {one.source: (one.before, one.after) for one in report.sources} == {
        "general/sky": (3, 2),
        "math/more": (1, 0),
        "math/sums": (3, 3),
    }
    assert [
        (one.question_id, one.reason, one.of, one.similarity, one.by) for one in out_questions(project, Scope())
    ] == [
        ("sum again", DUPLICATE, "sum", 1.0, "amira"),
        ("planet again", DUPLICATE, "planet", 1.0, "amira"),
    ]


def test_another_call_finds_only_new_duplicates(project: Project, tmp_path: Path) -> None:
    found(project)
    assert found(project).duplicates == 0
    add_questions(project, tmp_path, {"third": {"question": "what is 2+3 ?", "answer": "5"}}, dataset="other")
    report = found(project, with_pairs=True)
    assert (report.questions, pairs(report)) == (6, {"third": "sum"})


def test_which_one_stays_does_not_follow_from_the_order_of_import(tmp_path: Path) -> None:
    kept = []
    for name in ("forwards", "backwards"):
        (tmp_path / name).mkdir()
        rows = dict(list(EVERYTHING.items())[:: 1 if name == "forwards" else -1])
        project = pool_of(tmp_path / name, rows)
        kept.append(sorted(pairs(found(project, with_pairs=True)).items()))
        project.close()
    assert kept[0] == kept[1]


def test_duplicates_can_be_restored_and_others_stay_excluded(project: Project) -> None:
    found(project)
    exclude(project, ["proof", "planet again"], reason="proof", by="ben")
    assert take_in_again(project, Scope(), by="ben") == 1
    assert {one.question_id: one.reason for one in out_questions(project, Scope())} == {
        "proof": "proof",
        "planet again": "proof",
    }
    assert take_in_again(project, Scope(), by="ben") == 0


def test_a_scope_is_all_that_is_looked_at(project: Project) -> None:
    report = find_duplicates(project, Scope(source="general/sky"), by="amira", with_pairs=True)
    assert (report.questions, pairs(report)) == (3, {"planet again": "planet"})
    with pytest.raises(UsageError, match="There are no questions of that data set and source"):
        find_duplicates(project, Scope(dataset="nowhere"), by="amira")


def test_a_killed_search_is_resumed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    written = curation.decide
    calls = iter(range(2))

    def killed(*arguments: Any) -> None:
        if next(calls):
            raise KeyboardInterrupt
        written(*arguments)

    monkeypatch.setattr(pool, "batches", lambda values: transactions.batches(values, 1))
    monkeypatch.setattr(curation, "decide", killed)
    with pytest.raises(KeyboardInterrupt):
        found(project)
    monkeypatch.setattr(curation, "decide", written)
    assert [one.question_id for one in out_questions(project, Scope())] == ["sum again"]
    assert found(project).excluded == 1
    assert [one.of for one in out_questions(project, Scope())] == ["sum", "planet"]


def test_real_questions_survive_the_change_of_one_number(real_rows: list[dict[str, Any]]) -> None:
    questions = {row["question_id"]: row for row in real_rows}.values()
    changed = written = 0
    for row in questions:
        number = re.search(r"\d+", row["question"])
        text = wording(row["question"], row["answer"])
        if number is not None:
            start, end = number.span()
            other = f"{row['question'][:start]}{int(number[0]) + 1}{row['question'][end:]}"
            changed += 1
            assert signature(other) != signature(row["question"]), row["question_id"]
        laid_out = f"**Question:** {row['question']} \n"
        same = signature(laid_out) == signature(row["question"])
        written += same and bool(near_duplicates([text, wording(laid_out, row["answer"])], 0.7, 2))
    assert changed > 80
    assert written == len(questions)
