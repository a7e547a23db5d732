"""Open work of one annotator, in sentences that reveal nothing about others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.unit.labelling.conflicting import disputed, label_all, project_of, put
from workbench.core.database.values import timestamp_of
from workbench.core.project import Project
from workbench.labelling import coordinating, guidelines, people
from workbench.labelling.annotating import PAUSED, AnnotationSession, Answer
from workbench.labelling.forecasting import forecast
from workbench.labelling.waiting import own_work

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = project_of(tmp_path, 4)
    people.assign(made, ["amira", "ben"], per_item=2)
    return made


def sentences(project: Project, name: str) -> dict[str, str]:
    return {matter.kind: matter.sentence for matter in own_work(project, name).matters}


def test_items_are_open_until_labelled(project: Project) -> None:
    assert sentences(project, "amira") == {
        "own-guidelines": "You have not opened the guidelines yet: G in Annotate shows them.",
        "own-items": "4 items wait for your label.",
    }
    AnnotationSession(project, "amira").guidelines.read("1")
    label_all(project, "ben", Answer(verdict="correct"))
    assert sentences(project, "amira") == {"own-items": "4 items wait for your label."}, "others' pace is not theirs"
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.submit(item, Answer(verdict="correct"))
    session.close()
    assert sentences(project, "amira")["own-items"] == "3 items wait for your label.", "minutes tell no pace"
    label_all(project, "amira", Answer(verdict="correct"))
    assert sentences(project, "amira") == {"own-nothing": "No items are waiting for you."}


def test_answers_and_new_guidelines_precede_the_items(project: Project) -> None:
    session = AnnotationSession(project, "amira")
    item = session.next()
    assert item is not None
    session.flag(item, True, "why?")
    session.submit(item, Answer(verdict="correct"))
    session.close()
    coordinating.answer(project, item.completion, "Because.", by="dora")
    guidelines.add_case(project, "a sum left undone is incorrect", by="dora")
    assert list(sentences(project, "amira")) == ["own-answers", "own-guidelines", "own-items"]
    assert "own-answers" not in sentences(project, "ben")


def test_a_paused_annotator_gets_a_message_and_no_items(project: Project) -> None:
    people.pause(project, "amira", "checks went wrong")
    assert sentences(project, "amira") == {"own-pause": PAUSED}


def test_conflicts_are_open_for_their_adjudicators(tmp_path: Path) -> None:
    project = disputed(tmp_path, 3)
    (matter,) = own_work(project, "chen").matters
    assert (matter.sentence, matter.screen) == ("3 conflicts wait for you to adjudicate.", "adjudicate")
    assert list(sentences(project, "amira")) == ["own-nothing"]


@pytest.mark.parametrize(
    ("per_day", "words"),
    [
        (0, "no one has labelled yet"),
        (1, "at 1 label a day, as of late, the last is there about 13 March"),
        (40, "at 40 labels a day, as of late, the last is there today"),
    ],
)
def test_the_forecast_uses_the_pace_of_a_week(project: Project, per_day: int, words: str) -> None:
    for number in range(2 * per_day):
        put(project, "amira", 1 + number % 2, "correct", at=timestamp_of((NOW - timedelta(days=2)).timestamp()))
    found = forecast(project, NOW)
    assert (found.left, found.per_day) == (8, per_day or None)
    assert words in found.words(NOW)


def test_labels_of_less_than_a_day_have_no_pace(project: Project) -> None:
    for minutes in (1, 2, 60 * 23):
        put(project, "amira", 1, "correct", at=timestamp_of((NOW - timedelta(minutes=minutes)).timestamp()))
    found = forecast(project, NOW)
    assert (found.recent, found.per_day, found.ends_at) == (3, None, None)
    assert found.words(NOW) == "labels have been given for less than a day, so the end can't be forecast"


@pytest.mark.parametrize("hour", [0, 12, 23])
def test_more_than_a_day_of_labels_is_not_done_tomorrow(project: Project, hour: int) -> None:
    now = NOW.replace(hour=hour)
    for number in range(12):
        put(project, "amira", 1 + number % 2, "correct", at=timestamp_of((now - timedelta(days=2)).timestamp()))
    assert (forecast(project, now).left, forecast(project, now).per_day) == (8, 6)
    assert forecast(project, now).words(now) == "at 6 labels a day, as of late, the last is there about 7 March"


def test_labels_of_more_than_a_week_ago_have_no_pace(project: Project) -> None:
    put(project, "amira", 1, "correct", at=timestamp_of((NOW - timedelta(days=8)).timestamp()))
    found = forecast(project, NOW)
    assert (found.recent, found.per_day, found.ends_at) == (0, None, None)
    assert replace(found, done=1).words(NOW) == "no one has labelled for a week, so the end can't be forecast"


def test_a_forecast_beyond_ten_years_is_omitted(project: Project) -> None:
    put(project, "amira", 1, "correct", at=timestamp_of((NOW - timedelta(days=6.9)).timestamp()))
    found = forecast(project, NOW)
    assert found.ends_at is not None
    assert found.words(NOW).startswith("at less than one a day")
