"""An annotator's inbox in sentences: their own work, without others' labels, verdicts or gold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from workbench.core.project import Project
from workbench.core.status import Matter, PersonProgress
from workbench.core.text.figures import counted, verb_wait
from workbench.labelling.adjudicating import AdjudicationSession
from workbench.labelling.annotating import AnnotationSession
from workbench.labelling.forecasting import own_forecast


class OwnWork(Struct, frozen=True, kw_only=True):
    """The content of an annotator's Home screen.

    Attributes:
        matters: The messages of their inbox, the most urgent first; never empty.
    """

    progress: PersonProgress
    matters: list[Matter]


class _AnnotatorState(Struct, frozen=True, kw_only=True):
    """The state of one person.

    Attributes:
        answers: Number of unread answers to their flags.
        knows: The newest version of the guidelines that they have read; "" before they read any.
        news: The version in force if it is a different one; else "".
        pause: The message to a paused person; "" if they are not paused.
    """

    project: Project
    progress: PersonProgress
    answers: int
    knows: str
    news: str
    pause: str


def own_work(project: Project, name: str) -> OwnWork:
    """Return an annotator's inbox.

    Raises:
        UsageError: No annotator has this name.
    """
    with closing(AnnotationSession(project, name)) as session, project.database.reading():
        done, pause = session.progress(), session.paused()
        knows, news = session.guidelines.version, session.guidelines.news()
        answers = sum(not answer.heard for answer in session.answers())
        conflicts = AdjudicationSession(project, name).count_open()
        progress = PersonProgress(
            name=name, role="annotator", done=done.done, left=done.left, conflicts=conflicts, away=done.away
        )
        own = _AnnotatorState(project=project, progress=progress, answers=answers, knows=knows, news=news, pause=pause)
        return OwnWork(progress=progress, matters=[matter for find in _FINDERS for matter in find(own)] or [_NOTHING])


def _answer_matters(own: _AnnotatorState) -> Iterator[Matter]:
    if own.answers:
        said = f"The coordinator answered {counted(own.answers, 'flag')} of yours: d in Annotate shows it."
        yield Matter(kind="own-answers", sentence=said, size=own.answers, screen="annotate")


def _guideline_matters(own: _AnnotatorState) -> Iterator[Matter]:
    if own.news and (own.knows or (own.progress.left and not own.pause)):
        said = "The guidelines have changed" if own.knows else "You have not opened the guidelines yet"
        said += ": G in Annotate shows them."
        yield Matter(kind="own-guidelines", sentence=said, screen="annotate")


def _pause_matters(own: _AnnotatorState) -> Iterator[Matter]:
    if own.pause:
        yield Matter(kind="own-pause", sentence=own.pause)


def _item_matters(own: _AnnotatorState) -> Iterator[Matter]:
    left = own.progress.left
    if left and not own.pause:
        found = own_forecast(own.project, own.progress.name, own.progress.done, left)
        end = f"; {found.words(datetime.now(UTC))}" if found.per_day is not None else ""
        said = f"{counted(left, 'item')} {verb_wait(left)} for your label{end}."
        yield Matter(kind="own-items", sentence=said, size=left, screen="annotate")


def _conflict_matters(own: _AnnotatorState) -> Iterator[Matter]:
    if many := own.progress.conflicts:
        said = f"{counted(many, 'conflict')} {verb_wait(many)} for you to adjudicate."
        yield Matter(kind="own-conflicts", sentence=said, size=many, screen="adjudicate")


def _bundle_matters(own: _AnnotatorState) -> Iterator[Matter]:
    if away := own.progress.away:
        said = f"{counted(away, 'item')} {'is' if away == 1 else 'are'} in your bundle."
        yield Matter(kind="own-bundle", sentence=said, size=away)


_NOTHING: Final = Matter(kind="own-nothing", sentence="No items are waiting for you.")
_FINDERS: Final[tuple[Callable[[_AnnotatorState], Iterator[Matter]], ...]] = (
    _answer_matters,
    _guideline_matters,
    _pause_matters,
    _item_matters,
    _conflict_matters,
    _bundle_matters,
)
"""In order of display: what affects the rest of the work comes first."""
