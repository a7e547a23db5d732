"""Reading items for tables: order, conditions, search, pages, plans and cancelling."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.synthetic import VERIFIER, build
from tests.helpers import add_items, make_project
from workbench.core.database.connection import Cancelled, Database, cancellable
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.selection import parse_condition
from workbench.data.records import SORTABLE, BrowseQuery
from workbench.data.store import browsing
from workbench.data.store.browsing import first_ids, first_ids_query, ids, newest_runs, rows, with_key

ITEMS = 1_000


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("synthetic") / "s.db", ITEMS, labelled=40)


@pytest.fixture
def synthetic(file: Path) -> Database:
    return Database(file)


def query(*conditions: str, **rest: object) -> BrowseQuery:
    return BrowseQuery(conditions=tuple(map(parse_condition, conditions)), **rest)  # type: ignore[arg-type]


def field_of(row: object, name: str) -> str:
    if name.startswith("verdict:"):
        return str(row.verdicts[name.removeprefix("verdict:")])  # type: ignore[attr-defined]
    return str(getattr(row, name))


def test_items_are_listed_in_import_order_or_reversed(synthetic: Database) -> None:
    reader = synthetic.reader()
    assert list(ids(reader, BrowseQuery())) == list(range(1, ITEMS + 1))
    assert list(ids(reader, BrowseQuery(descending=True))) == list(range(ITEMS, 0, -1))


@pytest.mark.parametrize("column", SORTABLE)
@pytest.mark.parametrize("descending", [False, True])
def test_every_column_sorts_all_items_the_worst_first(synthetic: Database, column: str, descending: bool) -> None:
    reader = synthetic.reader()
    found = ids(reader, BrowseQuery(sort=column, descending=descending))
    values = [field_of(row, column) for row in rows(reader, found, {})]
    assert sorted(found) == list(range(1, ITEMS + 1))
    told = [value for value in values if value not in ("", "none", "untyped")]
    assert told == values[: len(told)], "what is not there stands last both ways"
    assert told == sorted(told, key=lambda word: {"correct": "z"}.get(word, word), reverse=descending)


def test_a_verdict_column_sorts_with_missing_verdicts_at_one_end(synthetic: Database) -> None:
    reader = synthetic.reader()
    found = ids(reader, BrowseQuery(sort=f"verdict:{VERIFIER}"))
    words = [row.verdicts[VERIFIER] for row in rows(reader, found, newest_runs(reader))]
    assert words == sorted(words, key=["incorrect", "error", "abstain", "correct"].index)
    assert len(ids(reader, BrowseQuery(sort="verdict:nobody"))) == ITEMS


@pytest.mark.parametrize(
    "condition",
    [
        "model=model-a",
        "model!=model-a",
        "type=A",
        "subtype=B5",
        "subtype>C",
        "state=final",
        "state!=final",
        "gold=correct",
        "source=algebra",
        "domain=math",
        "dataset=synthetic",
        "question_id=q-00007",
        "completion_id=c-0000007",
        "completion_id<c-0000100",
        "verdict:rules=abstain",
        "verdict:rules!=correct",
    ],
)
def test_a_condition_selects_exactly_the_matching_items(synthetic: Database, condition: str) -> None:
    reader, wanted = synthetic.reader(), parse_condition(condition)
    compare = {"=": str.__eq__, "!=": str.__ne__, "<": str.__lt__, ">": str.__gt__}[wanted.operator]
    everything = rows(reader, range(1, ITEMS + 1), newest_runs(reader))

    def value(row: object) -> str:
        return str(row.subtype[0]) if wanted.field == "type" else field_of(row, wanted.field)  # type: ignore[attr-defined]

    expected = [row.id for row in everything if compare(value(row), wanted.value)]
    assert expected
    assert list(ids(reader, query(condition))) == expected
    assert first_ids(reader, query(condition), 10) == expected[:10]


def test_conditions_and_search_all_hold(synthetic: Database) -> None:
    reader = synthetic.reader()
    both = ids(reader, query("model=model-a", "gold=correct", search="attempt 1"))
    assert set(both) == (
        set(ids(reader, query("model=model-a")))
        & set(ids(reader, query("gold=correct")))
        & set(ids(reader, query(search="attempt 1")))
    )


def test_search_looks_at_ids_questions_references_and_completions(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    add_items(
        project.database,
        [
            {"question_id": "q-key", "completion_id": "c-one", "question": "Why?", "reference": "because"},
            {"question_id": "q-key", "completion_id": "c-two", "completion": "Since always"},
            {"question_id": "other", "completion_id": "c-three", "completion": "100%_sure \\ [bold]"},
        ],
    )
    reader = project.database.reader()

    def found(text: str) -> list[int]:
        return list(ids(reader, BrowseQuery(search=text)))

    assert found("q-key") == found("why") == found("BECAUSE") == [1, 2]
    assert found("c-two") == found("since") == [2]
    assert found("%_s") == found("\\ [") == [3]
    assert found("e_a") == found("100_") == found("' OR 1=1 --") == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(part=st.text(min_size=1, max_size=8))
def test_any_text_can_be_searched_for_and_is_only_itself(synthetic: Database, part: str) -> None:
    if "\0" in part or any("\ud800" <= letter <= "\udfff" for letter in part):
        return
    reader = synthetic.reader()
    found = len(ids(reader, BrowseQuery(search=part)))
    folded = "".join(letter.lower() if letter.isascii() else letter for letter in part)
    texts = reader.execute(
        "SELECT c.key, q.key, qt.text, qt.reference, ct.text FROM completions AS c JOIN questions AS q ON "
        "q.id = c.question_id JOIN question_text AS qt ON qt.id = q.id JOIN completion_text AS ct ON ct.id = c.id"
    )
    assert found == sum(any(folded in text.lower() for text in row) for row in texts)


def test_pages_follow_each_other_without_gap_or_repeat(synthetic: Database) -> None:
    reader, wanted = synthetic.reader(), query("model=model-b")
    found: list[int] = []
    while page := first_ids(reader, wanted, 37, after=found[-1] if found else 0):
        found += page
    assert found == list(ids(reader, wanted))


def test_a_first_page_is_short_rather_than_late(synthetic: Database) -> None:
    assert first_ids(synthetic.reader(), query(search="nowhere"), 10, seconds=-1) == []


def test_rows_have_the_requested_order_and_skip_deleted_items(synthetic: Database) -> None:
    found = rows(synthetic.reader(), [500, 3, 999_999, 77], newest_runs(synthetic.reader()))
    assert [row.id for row in found] == [500, 3, 77]
    assert found[1].completion_id == "c-0000003"
    assert found[1].verdicts.keys() == {VERIFIER}


def test_items_of_a_running_import_are_hidden(tmp_path: Path) -> None:
    project = make_project(tmp_path, [{}, {}, {"completion_id": "new"}])
    with project.database.write() as connection:
        connection.execute(
            "INSERT INTO imports (dataset_id, path, format, state, first_completion_id, first_question_id, started_at) "
            "VALUES (1, 'x', 'verifybench', 'running', 3, 3, '')"
        )
    reader = project.database.reader()
    assert list(ids(reader, BrowseQuery())) == first_ids(reader, BrowseQuery(), 9) == [1, 2]
    assert with_key(reader, "new") == []


def test_an_item_that_is_gone_is_an_error_for_a_person(synthetic: Database) -> None:
    with pytest.raises(UsageError, match="no item"):
        browsing.detail(synthetic.reader(), 999_999)


# -- plans -------------------------------------------------------------------------------------------


def plan(database: Database, sql: str, parameters: list[object]) -> list[str]:
    """Steps of a plan, without those of its subqueries on runs and running imports (a handful of rows)."""
    steps = [row[3] for row in database.reader().execute(f"EXPLAIN QUERY PLAN {sql}", parameters)]
    return [step for step in steps if step not in ("SCAN imports", "SCAN horizon")]


@pytest.mark.parametrize(
    "conditions",
    ["", "model=model-a", "subtype=A1", "type=A state!=final", "state=final", "gold=correct", "dataset=synthetic"],
)
def test_pages_in_natural_order_walk_an_index_and_sort_nothing(synthetic: Database, conditions: str) -> None:
    sql, parameters = first_ids_query(query(*conditions.split()), 500)
    steps = plan(synthetic, sql, parameters)
    assert not [step for step in steps if "TEMP B-TREE" in step or step.startswith("SCAN")], steps
    assert any("SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in step for step in steps), steps


def test_pages_by_id_search_every_table_by_key(synthetic: Database) -> None:
    seen: list[str] = []
    reader = synthetic.reader()
    reader.set_trace_callback(seen.append)
    rows(reader, range(1, 129), newest_runs(reader))
    reader.set_trace_callback(None)
    for sql in seen[1:]:
        steps = plan(synthetic, sql, [])
        searches = ("SEARCH", "USING ROWID SEARCH")
        assert all(step.startswith(searches) or "LIST SUBQUERY" in step for step in steps), steps


def test_no_statement_uses_offset() -> None:
    source = Path(browsing.__file__).read_text(encoding="utf-8")
    assert "OFFSET ?" not in source
    assert source.count("OFFSET") == 1  # the first line says that there is none


# -- cancelling --------------------------------------------------------------------------------------


def test_a_cancelled_read_ends_soon_and_the_connection_still_works(synthetic: Database) -> None:
    reader, until = synthetic.reader(), time.monotonic() + 0.05
    endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    with pytest.raises(Cancelled), cancellable(reader, lambda: time.monotonic() > until):
        reader.execute(endless).fetchone()
    assert reader.execute("SELECT count(*) FROM completions").fetchone() == (ITEMS,)


def test_a_read_cancelled_before_it_began_never_begins(synthetic: Database) -> None:
    with pytest.raises(Cancelled), cancellable(synthetic.reader(), lambda: True):
        pytest.fail("began")


def test_projects_of_any_size_have_the_columns_browse_needs(tmp_path: Path) -> None:
    project: Project = make_project(tmp_path)
    assert list(ids(project.database.reader(), BrowseQuery(sort="gold", search="x"))) == []
    assert rows(project.database.reader(), [], {}) == []


@pytest.mark.parametrize("operator", ["=", "!="])
@pytest.mark.parametrize("word", ["correct", "incorrect", "abstain", "error", "none"])
def test_verdicts_read_through_and_looked_up_choose_the_same(synthetic: Database, operator: str, word: str) -> None:
    reader = synthetic.reader()
    asked = query(f"verdict:{VERIFIER}{operator}{word}")
    told = [row.verdicts.get(VERIFIER, "none") for row in rows(reader, range(1, ITEMS + 1), newest_runs(reader))]
    wanted = [
        item
        for item, verdict in enumerate(told, 1)
        if (verdict == word if operator == "=" else verdict != word and (word == "none" or verdict != "none"))
    ]
    assert list(ids(reader, asked)) == first_ids(reader, asked, ITEMS, seconds=60) == wanted


def test_a_condition_on_a_verdict_reads_those_of_its_run_once(synthetic: Database) -> None:
    """In instructions of SQLite an item: looked up one by one they cost twenty."""
    reader, ticks = synthetic.reader(), list[None]()
    reader.set_progress_handler(lambda: ticks.append(None), 10)
    ids(reader, query(f"verdict:{VERIFIER}=abstain"))
    reader.set_progress_handler(None, 0)
    assert 10 * len(ticks) / ITEMS < 12


def test_the_first_of_a_verdict_are_looked_up_one_by_one(synthetic: Database) -> None:
    sql, parameters = first_ids_query(query(f"verdict:{VERIFIER}=correct"), 500)
    steps = plan(synthetic, sql, parameters)
    assert any("SEARCH c USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)" in step for step in steps), steps
    looked_up = "SEARCH x USING PRIMARY KEY (run_id=? AND completion_id=? AND sample=?)"
    assert any(looked_up in step for step in steps), steps
