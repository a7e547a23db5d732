"""Exclusions are proposed by rules and models and decided by people, each with a reason."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.benchmarks.curating.pools import add_questions, pool_of
from workbench.benchmarks.curating.duplicates import find_duplicates
from workbench.benchmarks.curating.pool import candidate_questions, exclude, exclude_candidates, out_questions, restore
from workbench.benchmarks.curating.types import pool_status
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.measuring.records.curation import PoolChanged, Scope

EVERY = Scope()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = pool_of(tmp_path)
    yield opened
    opened.close()


def out(project: Project) -> dict[str, tuple[str, str, str | None]]:
    return {one.question_id: (one.reason, one.by, one.note) for one in out_questions(project, EVERY)}


def test_rules_use_only_questions_and_references(project: Project) -> None:
    found = [(one.question_id, one.reason, one.by) for one in candidate_questions(project, EVERY)]
    assert found == [("proof", "proof", "rule"), ("empty", "bad_reference", "rule")]
    assert [one.question_id for one in candidate_questions(project, EVERY, "proof")] == ["proof"]
    assert out(project) == {}


def test_every_exclusion_has_a_reason_and_a_person(project: Project) -> None:
    done = exclude(project, ["sum", "planet"], reason="other", note="too easy", by="amira")
    assert done == PoolChanged(excluded=2)
    assert exclude(project, ["sum"], reason="other", note="too easy", by="ben") == PoolChanged(unchanged=1)
    assert out(project) == dict.fromkeys(("sum", "planet"), ("other", "amira", "too easy"))
    exclude(project, ["sum"], reason="unanswerable", by="ben")
    assert out(project)["sum"] == ("unanswerable", "ben", None)
    for reason, note in (("other", " "), ("duplicate", ""), ("bored", "")):
        with pytest.raises(UsageError):
            exclude(project, ["sum"], reason=reason, note=note, by="amira")
    with pytest.raises(UsageError, match="'' is not a valid annotator name"):
        exclude(project, ["sum"], reason="proof", by=" ")


def test_findings_of_rules_are_excluded_by_a_person(project: Project) -> None:
    assert exclude_candidates(project, EVERY, by="amira", reason="proof") == PoolChanged(excluded=1)
    assert exclude_candidates(project, EVERY, by="amira") == PoolChanged(excluded=1)
    assert list(candidate_questions(project, EVERY)) == []
    assert {key: row[0] for key, row in out(project).items()} == {"proof": "proof", "empty": "bad_reference"}


def test_questions_are_restored_by_id_or_reason(project: Project) -> None:
    exclude(project, ["sum", "planet"], reason="proof", by="amira")
    exclude(project, ["empty"], reason="bad_reference", by="amira")
    assert restore(project, EVERY, by="ben", ids=["sum", "other sum"]) == PoolChanged(restored=1, unchanged=1)
    assert restore(project, EVERY, by="ben", reason="proof") == PoolChanged(restored=1)
    assert list(out(project)) == ["empty"]
    with pytest.raises(UsageError, match="The questions to include again are missing"):
        restore(project, EVERY, by="ben")
    history = project.database.reader().execute("SELECT kind FROM curation ORDER BY id").fetchall()
    assert [kind for (kind,) in history] == ["exclude"] * 3 + ["restore"] * 2


def test_decisions_are_never_changed(project: Project) -> None:
    exclude(project, ["sum"], reason="proof", by="amira")
    with project.database.write() as connection:
        for change in ("DELETE FROM curation", "UPDATE curation SET reason = 'other'"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(change)


def test_an_id_of_two_datasets_needs_the_dataset(project: Project, tmp_path: Path) -> None:
    add_questions(project, tmp_path, {"sum": {"question": "?", "answer": "!"}}, dataset="other")
    with pytest.raises(UsageError, match="Several data sets have a question 'sum': pool, other"):
        exclude(project, ["sum"], reason="proof", by="amira")
    assert exclude(project, ["sum"], reason="proof", by="amira", dataset="other") == PoolChanged(excluded=1)
    with pytest.raises(UsageError, match="no question 'nobody'"):
        exclude(project, ["nobody"], reason="proof", by="amira")


def test_status_counts_every_source_and_names_stale_ones(project: Project) -> None:
    find_duplicates(project, EVERY, by="amira")
    exclude(project, ["sum"], reason="bad_reference", by="amira")
    status = pool_status(project, EVERY)
    assert (status.questions, status.total.left, status.stale) == (7, 4, 1)
    assert status.total.excluded == {"bad_reference": 1, "duplicate": 2}
    rows = {one.source: one for one in status.sources}
    assert list(rows) == ["general/sky", "math/more", "math/sums"]
    assert (rows["math/sums"].licence, rows["math/sums"].domain) == ("MIT", "math")
    assert (rows["general/sky"].licence, rows["general/sky"].excluded) == (None, {"duplicate": 1})
    assert (rows["math/sums"].types, rows["math/sums"].origins) == ({"A": 1, "none": 1}, {"file": 1, "none": 1})
    assert sum(one.questions for one in status.sources) == status.questions
    assert all(one.questions == one.left + sum(one.excluded.values()) for one in (*status.sources, status.total))


def test_code_problems_are_not_of_the_pool(tmp_path: Path) -> None:
    from workbench.interchange.importing import import_files, plan_import

    project = pool_of(tmp_path)
    sample = Path(__file__).resolve().parents[4] / "sample_data" / "code_problems.jsonl"
    import_files(project, plan_import([sample]), dataset="code")
    assert pool_status(project, EVERY).questions == 7
    project.close()
