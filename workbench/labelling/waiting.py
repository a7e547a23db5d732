"""An annotator's inbox in sentences: their own work, without others' labels, verdicts or gold."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime

from msgspec import Struct

from workbench.core.options import record_from
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
        progress = record_from(PersonProgress, done, name=name, role="annotator", conflicts=conflicts)
        forecast = own_forecast(project, name, done.done, done.left) if done.left and not pause else None
    matters = []
    # What affects the rest of the work comes first.
    if answers:
        text = f"The coordinator answered {counted(answers, 'flag')} of yours: d in Annotate shows it."
        matters.append(Matter(kind="own-answers", sentence=text, size=answers, screen="annotate"))
    if news and (knows or (done.left and not pause)):
        text = "The guidelines have changed" if knows else "You have not opened the guidelines yet"
        matters.append(Matter(kind="own-guidelines", sentence=f"{text}: G in Annotate shows them.", screen="annotate"))
    if pause:
        matters.append(Matter(kind="own-pause", sentence=pause))
    if forecast is not None:
        end = f"; {forecast.words(datetime.now(UTC))}" if forecast.per_day is not None else ""
        text = f"{counted(done.left, 'item')} {verb_wait(done.left)} for your label{end}."
        matters.append(Matter(kind="own-items", sentence=text, size=done.left, screen="annotate"))
    if conflicts:
        text = f"{counted(conflicts, 'conflict')} {verb_wait(conflicts)} for you to adjudicate."
        matters.append(Matter(kind="own-conflicts", sentence=text, size=conflicts, screen="adjudicate"))
    if done.away:
        text = f"{counted(done.away, 'item')} {'is' if done.away == 1 else 'are'} in your bundle."
        matters.append(Matter(kind="own-bundle", sentence=text, size=done.away))
    return OwnWork(
        progress=progress, matters=matters or [Matter(kind="own-nothing", sentence="No items are waiting for you.")]
    )
