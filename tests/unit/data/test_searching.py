"""Text search: the index changes only the speed, follows the texts and can be deleted."""

from __future__ import annotations

import random
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers import add_items, make_project, numbered
from workbench.core.database.backup import backup
from workbench.core.errors import StoreError
from workbench.core.project import Project, open_project
from workbench.core.selection import parse_condition
from workbench.data import searching
from workbench.data.records import BrowseQuery
from workbench.data.store import text_index
from workbench.data.store.browsing import first_ids, ids
from workbench.data.store.text_index import NO_INDEX
from workbench.measuring.browsing import ItemTable

_WORDS = (
    *(r"\frac{1}{2}", "x^2", "函数的值", "Theorem", "theorem", "ÉTÉ", "été", "ſun", "K", "100%", "a_b", "a-b", "AND"),
    *(
        "NOT",
        'say "so"',
        "f(x)*g",
        "NEAR(a b)",
        "^begin",
        "col:on",
        "ß",
        "İ",
        "🙂🙂🙂",
        "\t",
        "\u2028",
        "\\",
        "'",
        "--",
    ),
)
HOSTILE = (
    *("AND", "OR NOT", '"', '""', '"""', "*", "a*", "-x", "(", ")(", "NEAR(", "^", "text:", "{text}", "a\0b", "\0\0\0"),
    *("\ud800ab", "%", "___", "\\", "\\\\\\", "'; DROP TABLE items", "x" * 60_000, "ab", "a", "  ", "\n\n\n"),
)


@pytest.fixture(autouse=True)
def _small_projects_have_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "WORTH", 0)


def texts(count: int, seed: int = 1) -> list[dict[str, object]]:
    drawn = random.Random(seed)

    def text() -> str:
        return drawn.choice(["", " "]).join(drawn.choices(_WORDS, k=drawn.randrange(1, 6)))

    # Completions of a question share its texts.
    shared = [{"question": text(), "reference": text()} for _ in range(count)]
    return [{**row, **shared[n // 2], "completion": text()} for n, row in enumerate(numbered(count))]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with closing(make_project(tmp_path, texts(400))) as project:
        yield project


def indexed(project: Project) -> list[float]:
    return list(searching.index_texts(project))


def scanned(project: Project, search: str, *conditions: str) -> list[int]:
    """Search by reading every text."""
    query = BrowseQuery(search=search, conditions=tuple(map(parse_condition, conditions)))
    return list(ids(project.database.reader(), query, NO_INDEX))


def found(project: Project, search: str, *conditions: str) -> list[int]:
    return list(
        ItemTable(project, BrowseQuery(search=search, conditions=tuple(map(parse_condition, conditions)))).ids()
    )


def held(project: Project) -> tuple[int, int]:
    """Up to which rows the index is this project's."""
    with text_index.reading(project.path, project.database.reader()) as index:
        return index.questions, index.completions


def searches(project: Project) -> list[str]:
    """Parts of what is there, and other texts."""
    drawn = random.Random(2)
    everything = [
        text
        for row in project.database.reader().execute("SELECT question, reference, completion FROM item_texts")
        for text in row
    ]
    parts = []
    for text in drawn.choices(everything, k=120):
        begin = drawn.randrange(len(text))
        parts.append(text[begin : begin + drawn.randrange(1, 12)])
    return [*parts, *(part.swapcase() for part in parts[:40]), *_WORDS, *HOSTILE, "c7", "q10"]


def test_results_with_and_without_an_index_are_equal(project: Project) -> None:
    before = {search: scanned(project, search) for search in searches(project)}
    assert indexed(project)[-1] == 1.0
    assert held(project) == (200, 400)
    assert {search: found(project, search) for search in before} == before
    assert sum(map(bool, before.values())) > 100


def test_an_incomplete_index_misses_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "_MAX_CHARACTERS", 2_000)
    shares = []
    for share in searching.index_texts(project):
        shares.append(share)
        for search in searches(project)[::17]:
            assert found(project, search) == scanned(project, search), search
    assert len(shares) > 5
    assert shares == sorted(shares)


def test_the_index_is_used_where_possible(project: Project) -> None:
    indexed(project)
    with sqlite3.connect(project.path) as behind:
        behind.execute("UPDATE completion_text SET text = 'zebra crossing' WHERE id = 7")
    assert scanned(project, "zebra") == [7]
    assert found(project, "zebra") == []
    assert found(project, "ze") == [7]


def test_conditions_order_and_pages_apply_to_results(project: Project) -> None:
    indexed(project)
    assert found(project, "Theorem", "gold=correct") == scanned(project, "theorem", "gold=correct") != []
    query = BrowseQuery(search="Theorem", sort="completion_id", descending=True)
    assert list(ItemTable(project, query).ids()) == list(ids(project.database.reader(), query))
    back = BrowseQuery(search="Theorem", descending=True)
    assert list(ItemTable(project, back).ids()) == scanned(project, "Theorem")[::-1]
    table = ItemTable(project, BrowseQuery(search="Theorem"))
    assert [row.id for row in table.first(7)] == scanned(project, "Theorem")[:7]


def test_the_index_follows_imports(project: Project) -> None:
    indexed(project)
    rows = [{**row, "question_id": f"n{n}", "completion_id": f"n{n}"} for n, row in enumerate(texts(60, seed=9))]
    rows[5]["completion"] = "a walrus"
    add_items(project.database, rows)
    assert found(project, "walrus") == scanned(project, "walrus") == [406]
    indexed(project)
    assert held(project)[1] == 460
    assert found(project, "walrus") == [406]
    assert indexed(project) == []


def test_an_index_of_another_history_is_not_used(project: Project, tmp_path: Path) -> None:
    """The file was replaced by an earlier copy or a foreign one."""
    indexed(project)
    other = tmp_path / "copy.db"
    backup(project.database, other)
    add_items(
        project.database, [{**row, "question_id": f"n{n}", "completion_id": f"n{n}"} for n, row in enumerate(texts(6))]
    )
    indexed(project)
    text_index.path(other).parent.mkdir()
    text_index.path(other).write_bytes(text_index.path(project.path).read_bytes())
    with closing(open_project(other)) as copy:
        assert held(copy) == (0, 0)
        assert found(copy, "Theorem") == scanned(copy, "Theorem") != []
        indexed(copy)
        assert held(copy) == (200, 400)
        assert found(copy, "Theorem") == scanned(copy, "Theorem")


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(500)])
def test_an_invalid_index_file_is_harmless(project: Project, content: bytes) -> None:
    text_index.path(project.path).parent.mkdir(exist_ok=True)
    text_index.path(project.path).write_bytes(content)
    assert found(project, "Theorem") == scanned(project, "Theorem")
    indexed(project)
    assert held(project) == (200, 400)


def test_a_damaged_index_is_detected_and_rebuilt(project: Project) -> None:
    indexed(project)
    with text_index.path(project.path).open("r+b") as file:
        file.seek(5 * 4096)
        file.write(b"\xff" * 4096 * 20)
    assert found(project, "Theorem") == scanned(project, "Theorem") != []
    indexed(project)
    assert found(project, "Theorem") == scanned(project, "Theorem")


def test_an_unwritable_index_is_reported_and_searches_work(project: Project) -> None:
    text_index.path(project.path).parent.write_bytes(b"in the way")
    with pytest.raises(StoreError, match=r"No index of the texts can be kept .*search\.db.*Searches read every text"):
        indexed(project)
    assert found(project, "Theorem") == scanned(project, "Theorem") != []


def test_a_link_in_its_place_is_not_followed(project: Project, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    text_index.path(project.path).parent.mkdir(exist_ok=True)
    text_index.path(project.path).symlink_to(victim)
    with pytest.raises(StoreError):
        indexed(project)
    assert found(project, "Theorem") == scanned(project, "Theorem")
    assert victim.read_bytes() == b"precious"


def test_sqlite_without_trigrams_is_reported_and_searches_work(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {name: sql.replace("trigram", "unheard of") for name, sql in text_index._SCHEMA.items()}
    monkeypatch.setattr(text_index, "_SCHEMA", made)
    with pytest.raises(StoreError, match="No index of the texts can be kept"):
        indexed(project)
    assert found(project, "Theorem") == scanned(project, "Theorem") != []


def test_the_database_itself_is_not_written(project: Project) -> None:
    """Building the index touches neither the lock nor the file of the database."""
    with project.database.write("normal") as held_by_others:
        held_by_others.execute("UPDATE datasets SET name = 'x' WHERE id = 1")
        version = project.database.data_version()
        indexed(project)
        assert held(project) == (200, 400)
        assert project.database.data_version() == version


def test_a_small_project_has_no_index(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "WORTH", 1_000)
    assert indexed(project) == []
    assert not text_index.path(project.path).exists()


def test_first_pages_are_limited_in_time(project: Project) -> None:
    assert first_ids(project.database.reader(), BrowseQuery(search="nowhere"), 10, seconds=-1) == []
    assert array("q", found(project, "nowhere at all")) == array("q")
