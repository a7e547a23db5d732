"""Answer types that a model suggests, compared with the current types.

Annotators label blind: `suggested_type` is for the coordinator's screens. Annotators see suggestions only if the
coordinator enables them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from workbench.core import reasons
from workbench.core.database import people
from workbench.core.errors import Command, UsageError
from workbench.core.project import Project
from workbench.core.taxonomy import ANSWER_TYPE, TYPES, TypeCell, TypeReport, TypeSuggestion, type_display
from workbench.core.text.figures import counted, interval, number
from workbench.core.text.inert import inert
from workbench.labelling import ledger
from workbench.labelling.store import suggestions as stored
from workbench.measuring.accuracy import complete_run
from workbench.runs.store import runs as stored_runs
from workbench.tables.table import Columns, aligned_rows, count, word

_MAX_CELLS = 10


def suggestions(project: Project, verifier: str) -> Iterator[TypeSuggestion]:
    """Yield the types that a verifier's newest complete run suggests, in the order of import.

    Raises:
        UsageError: The verifier has no complete run, or is not of the kind that suggests types.
    """
    return stored.suggestions(project.database.reader(), _suggesting_run(project, verifier))


def suggested_type(project: Project, verifier: str, question: int) -> TypeSuggestion | None:
    """Return the suggestion for one question, by row id; None if the model has not been asked about it. It raises the
    errors of `suggestions`.
    """
    return stored.suggestion_of(project.database.reader(), _suggesting_run(project, verifier), question)


def offered_type(project: Project, verifier: str, question: int, annotator: str) -> TypeSuggestion | None:
    """Return the suggestion for a question, to be shown to an annotator who is about to decide on its type.

    That the suggestion was shown is recorded: the annotator's later label is marked unblinded and left out of
    agreement.

    Raises:
        UsageError: See `suggestions`; or no annotator has this name.
    """
    found = suggested_type(project, verifier, question)
    if found is not None and found.suggested is not None:
        person = people.find(project.database, annotator)
        with project.database.write("normal") as connection:
            ledger.reveal(connection, person.id, "type", question, "suggestion")
    return found


def type_report(project: Project, verifier: str) -> TypeReport:
    """Measure the agreement of suggestions with the current subtypes. It raises the errors of `suggestions`."""
    run = _suggesting_run(project, verifier)
    return agreement_of(verifier, run, list(stored.suggestions(project.database.reader(), run)))


def agreement_of(verifier: str, run: int, found: Sequence[TypeSuggestion]) -> TypeReport:
    from workbench.statistics.intervals import count_interval

    cells = Counter((one.subtype, one.suggested) for one in found if one.subtype and one.suggested is not None)
    compared, subtyped = cells.total(), sum(n for (_, theirs), n in cells.items() if theirs not in TYPES)
    agree = sum(n for (ours, theirs), n in cells.items() if ours == theirs)
    same_type = sum(n for (ours, theirs), n in cells.items() if ours[0] == theirs[0])
    given = sum(one.suggested is not None for one in found)
    return TypeReport(
        verifier=verifier,
        run=run,
        questions=len(found),
        suggested=given,
        untyped=given - compared,
        none=dict(Counter(one.reason or "" for one in found if one.suggested is None)),
        compared=compared,
        agree=agree,
        subtyped=subtyped,
        accuracy=agree / subtyped if subtyped else None,
        ci=count_interval(agree, subtyped),
        type_accuracy=same_type / compared if compared else None,
        confusion=[TypeCell(subtype=ours, suggested=theirs, n=n) for (ours, theirs), n in sorted(cells.items())],
    )


def _suggesting_run(project: Project, verifier: str) -> int:
    run = complete_run(project, verifier)
    row = None if run is None else stored_runs.get(project.database.reader(), run)
    if row is None or row.verifier.kind != ANSWER_TYPE:
        raise UsageError(
            f"{verifier} suggests no answer types.",
            f"Ask a model for them: {Command(f'verify DB {ANSWER_TYPE}', option='base_url=URL')}",
        )
    return row.id


def types_text(report: TypeReport) -> str:
    lines = [
        f"{inert(report.verifier)}, run {report.run}: {counted(report.questions, 'question')}, "
        f"{report.suggested:,} with a suggestion, {report.untyped:,} of these without a type in force"
    ]
    lines += [
        f"  no suggestion: {n:,} {inert(reasons.code_with_title(reason))}" for reason, n in sorted(report.none.items())
    ]
    if report.type_accuracy is None:
        return "\n".join([*lines, "No question has both a suggestion and a type in force."]) + "\n"
    lines.append(
        f"same subtype {number(report.accuracy)} {interval(report.ci)} ({report.agree:,} of {report.subtyped:,}), "
        f"same type {report.type_accuracy:.3f}"
    )
    apart = sorted((cell for cell in report.confusion if cell.subtype != cell.suggested), key=lambda cell: -cell.n)
    if apart:
        columns: Columns[TypeCell] = (
            word("in force", lambda cell: type_display(cell.subtype)),
            word("suggested", lambda cell: type_display(cell.suggested)),
            count("questions", lambda cell: cell.n),
        )
        table = aligned_rows(columns, apart[:_MAX_CELLS])
        lines += ["", table]
    return "\n".join(lines) + "\n"


# -- Counts of a project, and whether it has changed since they were last read.
