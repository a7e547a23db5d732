"""The pool of questions to curate: exclusions, and licences of sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from workbench.core.database import people
from workbench.core.errors import Command, UsageError, opt
from workbench.core.label import coordinator_name
from workbench.core.options import grouped
from workbench.core.project import Project, batches
from workbench.data.formats.fields import known_licence
from workbench.data.store import licences
from workbench.labelling.answers import check_reason
from workbench.labelling.excluded import candidates
from workbench.measuring.records.curation import CandidateQuestion, OutQuestion, PoolChanged, PoolQuestion, Scope
from workbench.measuring.store import curation


def pool(project: Project, scope: Scope) -> list[PoolQuestion]:
    """Return the selected questions, in the order of import.

    Raises:
        UsageError: There are no questions in scope.
    """
    found = list(curation.questions(project.database.reader(), scope))
    if not found:
        raise UsageError(
            "There are no questions here."
            if scope == Scope()
            else "There are no questions of that data set and source.",
            f"Import some: {Command('import DB questions.jsonl')}, or see: {Command('curate DB status')}",
        )
    return found


def inside(project: Project, scope: Scope) -> list[PoolQuestion]:
    """Return the selected questions that are not excluded, in the order of import.

    Raises:
        UsageError: There are no questions in scope.
    """
    return [one for one in pool(project, scope) if one.out is None]


def by_ids(project: Project, ids: Iterable[str], dataset: str | None) -> list[int]:
    """Return the row ids of questions, given their ids in their data set.

    Raises:
        UsageError: A question does not exist, or several data sets have it.
    """
    reader = project.database.reader()
    numbers = []
    for key in dict.fromkeys(ids):
        found = curation.with_keys(reader, key, dataset)
        if not found:
            raise UsageError(f"There is no question {key[:100]!r} in the pool.", "See", Command("curate DB status"))
        if len(found) > 1:
            names = ", ".join(name for _, name in found)
            raise UsageError(f"Several data sets have a question {key[:100]!r}: {names}.", f"Say which: {opt.dataset}")
        numbers.append(found[0][0])
    return numbers


def decide(project: Project, decisions: Sequence[curation.CurationDecision], by: str) -> None:
    """Write a person's decisions on questions.

    Raises:
        UsageError: ``by`` is not a valid name.
    """
    for some in batches(decisions):
        with project.database.write("full") as connection:
            curation.decide(connection, some, people.add(connection, by or coordinator_name(), people.COORDINATOR))


# -- Questions that may be unsuitable: rules and models propose them, people exclude them, each with a reason.


_NO_COMPLETION = "."
"""Placeholder for the completion where a rule reads only the question."""


def candidate_questions(project: Project, scope: Scope, reason: str | None = None) -> Iterator[CandidateQuestion]:
    """Yield the questions, not yet excluded, that a rule or a model finds unsuitable, in the order of import.

    Args:
        reason: Yield only questions with this reason; None for all.

    Raises:
        UsageError: There are no questions in scope.
    """
    reader = project.database.reader()
    proposed = grouped((question, (code, name)) for question, code, name in curation.outside(reader, scope))
    for some in batches(inside(project, scope)):
        texts = curation.texts(reader, [one.id for one in some])
        for one in some:
            for found in _candidate_reasons(one, texts[one.id], proposed.get(one.id, ())):
                if reason in (None, found.reason):
                    yield found


def _candidate_reasons(
    question: PoolQuestion, texts: curation.Texts, proposed: Iterable[tuple[str, str]]
) -> Iterator[CandidateQuestion]:
    by_rule = [(code, why, "rule") for code, why in candidates(texts.question, texts.reference, _NO_COMPLETION)]
    by_model = [(code, "the model finds none of the four answer types", name) for code, name in proposed]
    for code, why, by in (*by_rule, *by_model):
        yield CandidateQuestion(
            dataset=question.dataset, question_id=question.key, source=question.source, reason=code, why=why, by=by
        )


def exclude(
    project: Project, ids: Sequence[str], *, reason: str, by: str, note: str = "", dataset: str | None = None
) -> PoolChanged:
    """Exclude questions from the pool; questions that are already excluded for the same reason are unchanged.

    Args:
        ids: The questions' ids in their data set.
        by: The person who decides on the exclusion.
        note: A note on the decision; required with the reason ``other``.

    Raises:
        UsageError: A question does not exist, the reason is unknown, or a note is missing.
    """
    check_reason(reason, note)
    return _exclude(project, dict.fromkeys(by_ids(project, ids, dataset), reason), by, note)


def exclude_candidates(
    project: Project, scope: Scope, *, by: str, reason: str | None = None, note: str = ""
) -> PoolChanged:
    """Exclude the questions that `candidate_questions` lists, each for its first reason.

    Raises:
        UsageError: There are no questions in scope, or the reason is unknown.
    """
    if reason is not None:
        check_reason(reason, note)
    numbers = {(one.dataset, one.key): one.id for one in pool(project, scope)}
    chosen: dict[int, str] = {}
    for one in candidate_questions(project, scope, reason):
        chosen.setdefault(numbers[one.dataset, one.question_id], one.reason)
    return _exclude(project, chosen, by, note)


def restore(
    project: Project, scope: Scope, *, by: str, ids: Sequence[str] = (), reason: str | None = None, note: str = ""
) -> PoolChanged:
    """Include questions again that people excluded, or duplicates that are named by id.

    Args:
        ids: The questions' ids in their data set; empty for all selected questions with the reason.

    Raises:
        UsageError: A question does not exist, or neither ids nor a reason are given.
    """
    if not ids and reason is None:
        raise UsageError(
            "The questions to include again are missing.", f"Give their ids, or a reason: {opt.reason:proof}"
        )
    named = set(by_ids(project, ids, scope.dataset)) if ids else None
    chosen = [one for one in pool(project, scope) if named is None or one.id in named]
    back = [one.id for one in chosen if one.out is not None and reason in (None, one.out)]
    decide(project, [curation.CurationDecision(question=number, reason=None, note=note or None) for number in back], by)
    return PoolChanged(restored=len(back), unchanged=len(chosen) - len(back) if named is not None else 0)


def out_questions(project: Project, scope: Scope, reason: str | None = None) -> list[OutQuestion]:
    """Return the excluded questions in the order of import, each with the reason and the person who excluded it."""
    return [
        one for one in curation.excluded_questions(project.database.reader(), scope) if reason in (None, one.reason)
    ]


def _exclude(project: Project, chosen: dict[int, str], by: str, note: str) -> PoolChanged:
    stand = {one.id: one.out for one in pool(project, Scope())}
    decisions = [
        curation.CurationDecision(question=number, reason=reason, note=note.strip() or None)
        for number, reason in chosen.items()
        if stand[number] != reason
    ]
    decide(project, decisions, by)
    return PoolChanged(excluded=len(decisions), unchanged=len(chosen) - len(decisions))


# -- The licence of a source, for sources whose files state none or a wrong one.


_LONGEST = 200


def set_licence(project: Project, source: str, licence: str) -> str | None:
    """Set the licence of a source. Return the stored value; None if ``licence`` says that it is unknown.

    Raises:
        UsageError: The source does not exist, or the licence is not valid.
    """
    if len(licence) > _LONGEST or not licence.isprintable():
        raise UsageError(
            f"{licence[:_LONGEST]!r} is not a valid licence.", f"Use up to {_LONGEST} printable characters."
        )
    known = known_licence(licence)
    with project.database.write("full") as connection:
        if not licences.put(connection, source, known):
            raise UsageError(f"There is no source {source[:_LONGEST]!r}.", "See", Command("curate DB status"))
    return known
