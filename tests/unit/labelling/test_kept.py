"""Labels given while the database's file is away: kept, and stored exactly once, at their true times."""

from __future__ import annotations

import shlex
import shutil
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from tests.helpers import make_shared
from workbench.config.settings import AnnotationPolicy
from workbench.core import kept as keeping
from workbench.core.database import events
from workbench.core.errors import StoreError
from workbench.core.processes import this_process
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection, parse_condition
from workbench.labelling import checks, ledger, people
from workbench.labelling.adjudicating import AdjudicationSession, Conflict, Ruling
from workbench.labelling.annotating import AnnotationItem, AnnotationSession, Answer
from workbench.labelling.labels import import_labels, put_lines
from workbench.labelling.merging import bring_in, bring_in_left


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "data").mkdir()
    made = make_shared(tmp_path / "data", "amira", "ben")
    yield made
    made.close()


def two(session: AnnotationSession) -> tuple[AnnotationItem, AnnotationItem]:
    first = session.next()
    assert first is not None
    second = session.next(beside=(first.completion,))
    assert second is not None
    return first, second


def stored(project: Project) -> list[tuple[Any, ...]]:
    reader = project.database.reader()
    return [(one.uuid, one.task, one.subject, one.value, one.created_at) for one in events.every(reader)]


def _swap(path: Path, away: Path) -> None:
    path.rename(away)
    path.touch()


AWAY: dict[str, tuple[Callable[[Path, Path], object], Callable[[Path, Path], object]]] = {
    "mv": (lambda path, away: path.rename(away), lambda path, away: away.rename(path)),
    "mv, then an empty file": (
        _swap,
        lambda path, away: away.replace(path),
    ),
    "the folder renamed": (
        lambda path, away: path.parent.rename(away),
        lambda path, away: away.rename(path.parent),
    ),
}


@pytest.mark.parametrize("what", AWAY)
def test_what_is_said_meanwhile_is_kept_and_stored_once_when_the_file_is_back(
    project: Project, amira: AnnotationSession, tmp_path: Path, what: str
) -> None:
    leave, come_back = AWAY[what]
    first, second = two(amira)
    leave(project.path, tmp_path / "away")
    given = amira.submit(first, Answer(verdict="correct", subtype="A1", note="well", open_ms=1500))
    given += amira.submit(second, Answer(verdict="incorrect", subtype="A1"))
    # Said again, it is one label still.
    assert amira.submit(second, Answer(verdict="incorrect", subtype="A1")) == []
    assert (len(given), project.kept.count) == (4, 2)
    file = project.kept.path
    assert file is not None
    assert (stat.S_IMODE(file.stat().st_mode), len(file.read_text().splitlines())) == (0o600, 4)
    assert str(file) in project.kept.words()
    assert bring_in(project) is None, "it is still away"
    come_back(project.path, tmp_path / "away")
    times = {line.uuid: line.created_at for line in project.kept.lines()}
    brought = bring_in(project)
    assert brought is not None
    assert (brought.stored, brought.refused, project.kept.count, file.exists()) == (4, (), 0, False)
    found = stored(project)
    assert [row[0] for row in found] == given
    assert {row[0]: row[4] for row in found} == times
    assert events.by_uuid(project.database.reader(), given[0]) is not None
    assert ledger.states_differ(project) == 0
    assert bring_in(project) is None
    after = amira.next()
    assert after is not None
    assert after.completion not in (first.completion, second.completion)


def test_the_next_answer_brings_in_what_was_kept_before_it(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    first, second = two(amira)
    project.path.rename(tmp_path / "away")
    (kept,) = amira.submit(first, Answer(verdict="correct"))
    (tmp_path / "away").rename(project.path)
    (later,) = amira.submit(second, Answer(verdict="correct"))
    assert [row[0] for row in stored(project)] == [kept, later]
    assert project.kept.count == 0


def test_a_correction_of_what_is_kept_supersedes_it(project: Project, amira: AnnotationSession, tmp_path: Path) -> None:
    first, _ = two(amira)
    project.path.rename(tmp_path / "away")
    (before,) = amira.submit(first, Answer(verdict="correct"))
    (after,) = amira.submit(first, Answer(verdict="incorrect"))
    (tmp_path / "away").rename(project.path)
    assert bring_in(project) is not None
    event = events.by_uuid(project.database.reader(), after)
    assert event is not None
    assert event.supersedes == before
    assert [event.verdict for event in _current(project)] == ["incorrect"]


def _current(project: Project) -> list[Any]:
    every = list(events.every(project.database.reader()))
    return [event for event in every if event.uuid not in {one.supersedes for one in every}]


def test_what_is_kept_can_be_taken_back(project: Project, amira: AnnotationSession, tmp_path: Path) -> None:
    first, second = two(amira)
    project.path.rename(tmp_path / "away")
    (stays,) = amira.submit(first, Answer(verdict="correct"))
    amira.submit(second, Answer(verdict="correct", subtype="A1"))
    again = amira.undo()
    assert again is not None
    assert again.completion == second.completion
    (tmp_path / "away").rename(project.path)
    assert bring_in(project) is not None
    assert [row[0] for row in stored(project)] == [stays]


def test_what_is_kept_is_taken_back_and_read_again_by_a_thread_that_never_read(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    first, second = two(amira)
    amira.submit(first, Answer(verdict="correct"))
    project.path.rename(tmp_path / "away.db")
    amira.submit(second, Answer(verdict="incorrect", note="why"))
    with ThreadPoolExecutor(1) as another:
        again = another.submit(amira.undo).result()
        assert again is not None
        assert (again.completion, again.note, again.guideline) == (second.completion, "why", second.guideline)
        assert another.submit(amira.open, first.completion).result().verdict == "correct"


def test_what_a_killed_process_has_kept_is_stored_by_the_next_that_opens_the_database(
    project: Project, amira: AnnotationSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    killed = structs.replace(this_process(), pid=int(gone.stdout), started=7)
    monkeypatch.setattr(keeping, "this_process", lambda: killed)
    first, second = two(amira)
    project.path.rename(tmp_path / "away")
    given = [*amira.submit(first, Answer(verdict="correct")), *amira.submit(second, Answer(verdict="correct"))]
    file = project.kept.path
    assert file is not None
    # Killed as it wrote the next one.
    with file.open("a") as torn:
        torn.write('{"completion_id": "c')
    (tmp_path / "away").rename(project.path)
    with closing(open_project(project.path)) as later:
        (brought,) = bring_in_left(later)
        assert (brought.stored, len(brought.refused), brought.file) == (2, 1, file)
        assert [row[0] for row in stored(later)] == given
        # It stays for the sake of what can't be read, and changes nothing any more.
        (again,) = bring_in_left(later)
        assert (again.stored, len(stored(later))) == (2, 2)
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]))
        assert [one.file for one in bring_in_left(later)] == [None]
        assert bring_in_left(later) == []


def _window(project: Project, _: Path) -> None:
    assert bring_in(project) is not None


def _left(project: Project, file: Path) -> None:
    # Whoever wrote it has ended: their number is nobody's.
    file.rename(file.with_name(f"{project.path.name}.unsaved-{2**22 + 1}-7.jsonl"))
    assert [brought.refused for brought in bring_in_left(project)] == [()]


def _by_hand(project: Project, file: Path) -> None:
    assert import_labels(project, file).refused == 0


@pytest.mark.parametrize("door", [_window, _left, _by_hand])
@pytest.mark.parametrize("kind", ["label", "check", "repeat"])
def test_by_every_door_what_it_was_an_answer_to_is_done_as_if_given_at_once(
    project: Project, tmp_path: Path, kind: str, door: Callable[[Project, Path], None]
) -> None:
    (project.path.parent / "workbench.toml").write_text("[annotation]\ncheck_minimum = 1\n")
    if kind == "check":
        chosen = Selection((parse_condition("completion_id=c3"),))
        _rows(project, "DELETE FROM assignments WHERE subject = 4")
        assert checks.add_checks(project, chosen).added == 1
    if kind == "repeat":
        with closing(AnnotationSession(project, "amira", policy=AnnotationPolicy(repeat_share=0))) as before:
            once = before.next()
            assert once is not None
            before.submit(once, Answer(verdict="correct", subtype="A1"))
    rates = AnnotationPolicy(check_rate=kind == "check", repeat_share=kind == "repeat", repeat_after_hours=0)
    with closing(AnnotationSession(project, "amira", policy=rates)) as amira:
        item = amira.next()
        assert item is not None
        amira.keep_draft(item, "no reference")
        project.path.rename(tmp_path / "away")
        amira.submit(item, Answer(verdict="unsuitable", reason="proof"))
        file = project.kept.path
        assert file is not None
        (tmp_path / "away").rename(project.path)
        door(project, file)
        slots = "SELECT task, state FROM assignments WHERE annotator_id = 1 AND subject = ? AND purpose = ?"
        assert _rows(project, slots, item.completion, _PURPOSE[kind]) == [("correctness", "done")]
        assert [event.kind for event in events.every(project.database.reader())][-1] == kind
        assert _rows(project, "SELECT count(*) FROM drafts") == [(0,)]
        # Who is wrong at a check has no further items.
        assert _rows(project, "SELECT paused_at IS NOT NULL FROM annotators WHERE id = 1") == [(kind == "check",)]


_PURPOSE = {"label": "quota", "check": "check", "repeat": "repeat"}


def _rows(project: Project, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
    with project.database.write() as connection:
        return connection.execute(sql, parameters).fetchall()


def test_by_hand_they_are_brought_in_as_a_label_file(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    first, _ = two(amira)
    shutil.copy(project.path, tmp_path / "copy.db")
    project.path.rename(tmp_path / "away")
    (given,) = amira.submit(first, Answer(verdict="unsuitable", reason="proof", tags=("guessed",), keys=3))
    file = project.kept.path
    assert file is not None
    (tmp_path / "away").rename(project.path)
    words = project.kept.words()
    advised = shlex.split(words[words.index("workbench labels") :])
    assert advised == ["workbench", "labels", str(project.path), "import", str(file)]
    for expected in ((1, 0), (0, 1)):
        report = import_labels(project, file)
        assert (report.imported, report.unchanged, report.refused) == (*expected, 0)
    # What the window still holds is the same label.
    assert bring_in(project) is not None
    (event,) = events.every(project.database.reader())
    assert (event.uuid, event.exclusion_reason, event.tags, event.keys) == (given, "proof", ("guessed",), 3)


def _meanwhile(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> Callable[[], None]:
    """Have something done in another thread as soon as what is kept has been stored; returns what waits for its end."""
    doing = threading.Thread(target=do)

    def put(project: Project, lines: Any) -> Any:
        report = put_lines(project, lines)
        doing.start()
        # It may have to wait until all of this is done.
        doing.join(0.2)
        return report

    monkeypatch.setattr("workbench.labelling.merging.put_lines", put)
    return doing.join


def test_what_is_kept_while_the_rest_is_stored_stays(
    project: Project, amira: AnnotationSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file comes back, and goes once more just when what waited has been stored."""
    first, _ = two(amira)
    project.path.rename(tmp_path / "away")
    (one,) = amira.submit(first, Answer(verdict="correct"))
    (tmp_path / "away").rename(project.path)

    why = StoreError("away", cause="moved")
    (kept,) = project.kept.lines()
    lines, said = (
        [structs.replace(kept, uuid="other")],
        [structs.replace(project.kept._groups[0].events[0], uuid="other")],
    )
    end = _meanwhile(monkeypatch, lambda: project.kept.keep(lines, said, why))
    assert bring_in(project) is not None
    end()
    assert [line.uuid for line in project.kept.lines()] == ["other"]
    file = project.kept.path
    assert file is not None
    assert len(file.read_text().splitlines()) == 1
    assert [row[0] for row in stored(project)] == [one]


def test_what_is_taken_back_while_it_is_stored_is_not_stored(
    project: Project, amira: AnnotationSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = two(amira)
    project.path.rename(tmp_path / "away")
    amira.submit(first, Answer(verdict="correct"))
    (tmp_path / "away").rename(project.path)
    end = _meanwhile(monkeypatch, amira.undo)
    bring_in(project)
    end()
    assert project.kept.count == 0
    assert [event.kind for event in _current(project)] == ["retraction"]


def test_who_takes_back_a_label_keeps_a_decision(project: Project, amira: AnnotationSession, tmp_path: Path) -> None:
    _, chen, conflict = _conflict(project, amira)
    people.assign(project, ["chen"], per_item=1)
    with closing(AnnotationSession(project, "chen")) as also_labels:
        project.path.rename(tmp_path / "away")
        uuid = chen.decide(conflict, Ruling(verdict="correct"))
        with pytest.raises(StoreError, match="moved"):
            also_labels.undo()
    (tmp_path / "away").rename(project.path)
    assert bring_in(project) is not None
    assert events.by_uuid(project.database.reader(), uuid) is not None


def test_the_decision_that_is_taken_back_is_the_newest_one(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    _, chen, conflict = _conflict(project, amira)
    project.path.rename(tmp_path / "away")
    chen.decide(conflict, Ruling(verdict="correct"))
    (tmp_path / "away").rename(project.path)
    opened = chen.undo()
    assert opened is not None
    assert opened.subject == conflict.subject
    assert bring_in(project) is None
    state = "SELECT state FROM task_states WHERE task = 'correctness' AND subject = ?"
    assert project.database.reader().execute(state, (conflict.subject,)).fetchone() == ("conflict",)


def test_with_the_folder_gone_they_stand_among_the_users_own_files(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    first, second = two(amira)
    project.path.rename(tmp_path / "away")
    amira.submit(first, Answer(verdict="correct"))
    beside = project.kept.path
    assert beside is not None
    assert beside.parent == project.path.parent
    # Now the folder goes, and another of its name comes: what was mounted there hides it.
    project.path.parent.rename(tmp_path / "old")
    project.path.parent.mkdir()
    project.path.parent.rmdir()
    project.path.parent.touch()
    amira.submit(second, Answer(verdict="correct"))
    own = project.kept.path
    assert own is not None
    assert (own.parents[1], len(own.read_text().splitlines())) == (tmp_path / "state" / "workbench" / "unsaved", 2)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_no_link_or_pipe_in_its_place_is_followed(
    project: Project, amira: AnnotationSession, tmp_path: Path, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("dear")
    beside = next(iter(project.kept._places()))
    beside.symlink_to(victim) if kind == "link" else subprocess.run(["mkfifo", beside], check=True)
    first, _ = two(amira)
    project.path.rename(tmp_path / "away")
    amira.submit(first, Answer(verdict="correct"))
    assert victim.read_text() == "dear"
    assert project.kept.path not in (None, beside)


def test_a_label_that_can_no_longer_be_taken_stays_in_the_file(
    project: Project, amira: AnnotationSession, tmp_path: Path
) -> None:
    first, second = two(amira)
    project.path.rename(tmp_path / "away")
    amira.submit(first, Answer(verdict="correct"))
    (good,) = amira.submit(second, Answer(verdict="correct"))
    group = project.kept._groups[0]
    strange = structs.replace(group.lines[0], completion_id="nowhere")
    project.kept._groups[0] = structs.replace(group, lines=(strange,))
    file = project.kept.path
    (tmp_path / "away").rename(project.path)
    brought = bring_in(project)
    assert brought is not None
    assert (brought.stored, brought.file) == (1, file)
    assert "no completion 'nowhere'" in brought.refused[0]
    assert file is not None
    assert "nowhere" in file.read_text()
    assert [row[0] for row in stored(project)] == [good]


def _conflict(project: Project, amira: AnnotationSession) -> tuple[AnnotationItem, AdjudicationSession, Conflict]:
    """An item that amira and ben differ on, and chen, who is to decide."""
    with closing(AnnotationSession(project, "ben")) as ben:
        first, _ = two(amira)
        amira.submit(first, Answer(verdict="correct"))
        while (item := ben.next()) is not None and item.completion != first.completion:
            ben.skip(item)
        assert item is not None
        ben.submit(item, Answer(verdict="incorrect"))
    people.add_annotators(project, ["chen"])
    chen = AdjudicationSession(project, "chen")
    conflict = chen.next()
    assert conflict is not None
    return first, chen, conflict


def test_a_decision_is_kept_like_a_label(project: Project, amira: AnnotationSession, tmp_path: Path) -> None:
    first, chen, conflict = _conflict(project, amira)
    project.path.rename(tmp_path / "away")
    uuid = chen.decide(conflict, Ruling(verdict="correct", note="so"))
    assert project.kept.count == 1
    (tmp_path / "away").rename(project.path)
    assert bring_in(project) is not None
    event = events.by_uuid(project.database.reader(), uuid)
    assert event is not None
    assert (event.kind, event.verdict, event.seen) == ("adjudication", "correct", conflict.seen)
    state = "SELECT state, verdict FROM task_states WHERE task = 'correctness' AND subject = ?"
    assert project.database.reader().execute(state, (first.completion,)).fetchall() == [("final", "correct")]
