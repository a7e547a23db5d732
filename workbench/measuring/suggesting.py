"""Answer types that a model suggests, compared with the current types.

Annotators label blind: `suggested_type` is for the coordinator's screens. Annotators see suggestions only if the
coordinator enables them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbench.core.database import people
from workbench.core.errors import Command, UsageError
from workbench.core.project import Project
from workbench.core.taxonomy import ANSWER_TYPE, TYPES, TypeCell, TypeReport, TypeSuggestion
from workbench.data.store import browsing
from workbench.labelling import ledger
from workbench.measuring.judged import judges_of
from workbench.measuring.store import curation as stored
from workbench.runs.store import runs as stored_runs


def suggested_type(project: Project, verifier: str, question: int) -> TypeSuggestion | None:
    """Return the suggestion for one question, by row id; None if the model has not been asked about it.

    Raises:
        UsageError: The verifier has no complete run, or is not of the kind that suggests types.
    """
    return stored.suggestion_of(project.database.reader(), _suggesting_run(project, verifier), question)


def offered_type(project: Project, verifier: str, question: int, annotator: str) -> TypeSuggestion | None:
    """Return the suggestion for a question, to be shown to an annotator who is about to decide on its type.

    That the suggestion was shown is recorded: the annotator's later label is marked unblinded and left out of
    agreement.

    Raises:
        UsageError: See `suggested_type`; or no annotator has this name.
    """
    found = suggested_type(project, verifier, question)
    if found is not None and found.suggested is not None:
        person = people.find(project.database, annotator)
        with project.database.write("normal") as connection:
            ledger.reveal(connection, person.id, "type", question, "suggestion")
    return found


def type_reports(project: Project) -> list[TypeReport]:
    """Measure the agreement of each verifier's suggestions with the current subtypes."""
    reader = project.database.reader()
    kinds = {verifier.name: verifier.kind for verifier in stored_runs.verifiers(reader)}
    return [
        agreement_of(name, run, list(stored.run_suggestions(reader, run)))
        for run, name in browsing.newest_runs(reader).items()
        if kinds[name] == ANSWER_TYPE
    ]


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
    (judge,) = judges_of(project, (verifier,))
    run = judge.run
    row = None if run is None else stored_runs.get(project.database.reader(), run)
    if row is None or row.verifier.kind != ANSWER_TYPE:
        raise UsageError(
            f"{verifier} suggests no answer types.",
            f"Ask a model for them: {Command(f'verify DB {ANSWER_TYPE}', option='base_url=URL')}",
        )
    return row.id
