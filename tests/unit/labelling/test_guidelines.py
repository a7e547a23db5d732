"""Guidelines: the newest version is current, versions are immutable, cases are appended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import make_project, numbered
from workbench.core.errors import FormatError, UsageError
from workbench.core.project import Project, open_project
from workbench.labelling import guidelines
from workbench.labelling.annotating import AnnotationSession, Answer
from workbench.labelling.bundling import bundle
from workbench.labelling.guidelines import CASES, MAX_CHARACTERS, TEXT
from workbench.labelling.people import assign
from workbench.labelling.store import guidelines as store


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def in_force(project: Project) -> str:
    return guidelines.version_in_force(project.database.reader())


def test_the_built_in_text_is_in_force_at_first(project: Project) -> None:
    assert guidelines.current(project) == guidelines.Guideline(version="1", text=TEXT)
    assert in_force(project) == "1"


def test_a_new_text_is_in_force_and_the_old_ones_stay(project: Project) -> None:
    first = guidelines.add_version(project, "[b]Judge[/b] by the answer.", by="dora")
    assert first.version.startswith("2-")
    assert (first.author, in_force(project)) == ("dora", first.version)
    second = guidelines.add_version(project, "Judge kindly.")
    assert [version.version for version in guidelines.versions(project)] == [
        "1",
        first.version,
        second.version,
    ]
    assert guidelines.of_version(project, first.version).text == "[b]Judge[/b] by the answer.\n"
    assert second.author == "coordinator"


def test_the_current_text_again_is_no_new_version(project: Project) -> None:
    first = guidelines.add_version(project, "Judge.")
    assert guidelines.add_version(project, "\nJudge.\n\n") == first
    assert guidelines.add_version(project, TEXT).version.startswith("3-")


def test_the_later_of_two_versions_with_one_number_is_current(project: Project) -> None:
    with project.database.write("full") as connection:
        connection.execute("INSERT INTO annotators (name, created_at) VALUES ('dora', '2025')")
        store.add(connection, "2-ffffff", "early", 1, "2025-01-01T00:00:00.000000Z")
        store.add(connection, "2-000000", "late", 1, "2025-01-02T00:00:00.000000Z")
        store.add(connection, "10-000000", "ten", 1, "2024-01-01T00:00:00.000000Z")
        store.add(connection, "10-000000", "another text", 1, "2026-01-01T00:00:00.000000Z")
    assert [version.version for version in guidelines.versions(project)] == [
        "1",
        "2-ffffff",
        "2-000000",
        "10-000000",
    ]
    assert guidelines.current(project).text == "ten"
    assert in_force(project) == "10-000000"
    assert guidelines.add_version(project, "next").version.startswith("11-")


def test_a_case_joins_the_text_in_force(project: Project) -> None:
    guidelines.add_version(project, "Judge.")
    guidelines.add_case(project, "a sum left\n undone is incorrect", by="dora")
    found = guidelines.add_case(project, "units are ignored", by="emil")
    lines = ["Judge.", "", CASES, "", "- a sum left undone is incorrect", "- units are ignored", ""]
    assert found.text == "\n".join(lines)
    assert (found.version[:2], found.author) == ("4-", "emil")


@pytest.mark.parametrize("text", ["", " \n ", "x" * (MAX_CHARACTERS + 1)])
def test_empty_and_huge_texts_are_rejected(project: Project, text: str) -> None:
    with pytest.raises(UsageError):
        guidelines.add_version(project, text)
    assert in_force(project) == "1"


def test_a_case_needs_a_text(project: Project) -> None:
    with pytest.raises(UsageError, match="empty"):
        guidelines.add_case(project, " \n", by="dora")


def test_an_unknown_version_is_rejected_with_the_known_ones(project: Project) -> None:
    with pytest.raises(UsageError) as caught:
        guidelines.of_version(project, "7")
    assert caught.value.hint == "Versions: 1."


def test_a_file_is_read_whatever_its_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "g.md"
    path.write_bytes(b"\xef\xbb\xbfJudge.\r\n- one\r\n")
    assert guidelines.read_text(path) == "Judge.\n- one\n"


@pytest.mark.parametrize(("content", "message"), [(b"\xff", "byte 0 is not valid UTF-8"), (b"x" * 400_001, "too long")])
def test_a_binary_file_is_rejected(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "g.md"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        guidelines.read_text(path)
    with pytest.raises(FormatError, match="No such file"):
        guidelines.read_text(tmp_path / "nowhere.md")


def stored_versions(project: Project) -> list[str | None]:
    rows = project.database.reader().execute("SELECT guideline FROM label_events WHERE kind = 'label' ORDER BY id")
    return [version for (version,) in rows]


def label_next(session: AnnotationSession) -> None:
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))


def test_a_label_names_the_version_its_maker_has_read(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(6))
    assign(project, ["amira"], per_item=1)
    first = guidelines.add_version(project, "Judge.").version
    session = AnnotationSession(project, "amira")
    assert (session.guidelines.version, session.guidelines.news()) == ("", first)
    label_next(session)
    session.guidelines.read(first)
    assert session.guidelines.news() == ""
    label_next(session)
    second = guidelines.add_version(project, "Judge kindly.", by="dora").version
    label_next(session)
    assert session.guidelines.news() == second
    session.guidelines.read(second)
    label_next(session)
    third = guidelines.add_case(project, "units matter", by="dora").version
    session.close()
    later = AnnotationSession(project, "amira")
    assert later.guidelines.news() == third, "who comes back after a change is told of it as well"
    label_next(later)
    assert stored_versions(project) == [None, first, first, second, second]
    assert guidelines.of_version(project, second).read_by == ("dora", "amira")
    later.close()


def test_the_known_version_is_available_after_closing(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    assign(project, ["amira"], per_item=1)
    session = AnnotationSession(project, "amira")
    session.close()
    second = guidelines.add_version(project, "Judge.").version
    assert (session.guidelines.version, session.guidelines.news()) == ("", second)


def test_a_read_version_is_known_in_the_next_session(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    assign(project, ["amira"], per_item=1)
    AnnotationSession(project, "amira").guidelines.read("1")
    second = guidelines.add_version(project, "Judge.").version
    session = AnnotationSession(project, "amira")
    assert (session.guidelines.version, session.guidelines.news()) == ("1", second)
    AnnotationSession(project, "amira").guidelines.read(second)
    assert (session.guidelines.version, session.guidelines.news()) == (second, "")


def test_guideline_news_is_the_same_in_a_bundle(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(4))
    assign(project, ["amira", "ben"], per_item=2)
    for name in ("amira", "ben"):
        AnnotationSession(project, name).guidelines.read("1")
    second = guidelines.add_version(project, "Judge.").version
    AnnotationSession(project, "ben").guidelines.read(second)
    for name, news in (("amira", second), ("ben", "")):
        bundle(project, tmp_path / f"{name}.db", annotator=name)
        assert AnnotationSession(open_project(tmp_path / f"{name}.db"), name).guidelines.news() == news


def test_only_opening_guidelines_marks_them_as_read(tmp_path: Path) -> None:
    """Labelling, taking a bundle along or adding a case to the text does not."""
    project = make_project(tmp_path, numbered(4))
    assign(project, ["amira"], per_item=1)
    label_next(AnnotationSession(project, "amira"))
    bundle(project, tmp_path / "amira.db", annotator="amira")
    away = open_project(tmp_path / "amira.db")
    label_next(AnnotationSession(away, "amira"))
    assert {version.read_by for version in guidelines.versions(away)} == {()}
    version = guidelines.add_case(project, "units matter", by="amira").version
    assert {version.read_by for version in guidelines.versions(project)} == {()}
    assert AnnotationSession(project, "amira").guidelines.news() == version
    assert {*stored_versions(project), *stored_versions(away)} == {None}


def test_the_author_of_a_case_knows_the_new_version(tmp_path: Path) -> None:
    project = make_project(tmp_path, numbered(2))
    assign(project, ["amira"], per_item=1)
    AnnotationSession(project, "amira").guidelines.read("1")
    version = guidelines.add_case(project, "units matter", by="amira").version
    assert AnnotationSession(project, "amira").guidelines.version == version
