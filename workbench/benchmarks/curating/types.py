"""Answer types of the pool's questions: proposed by a model, given by annotators, compared, accepted.

Types from a file and resolved types are used everywhere. A proposal is not a label: it is stored separately, and
annotators don't see it. Proposals and types from a single annotator are used only in draws, until a person accepts
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from workbench.benchmarks.curating.pool import by_ids, inside, pool
from workbench.core.database import events, people
from workbench.core.database.hashes import secret
from workbench.core.errors import Command, UsageError, opt
from workbench.core.label import LabelLine
from workbench.core.options import grouped
from workbench.core.project import Project, batches
from workbench.core.selection import NAMELESS
from workbench.core.taxonomy import TYPES, TypeReport, TypeSuggestion, is_subtype, is_typed, parse_type
from workbench.labelling import ledger
from workbench.labelling.labels import LabelsImported, put_lines
from workbench.measuring.records.curation import (
    UNREADABLE,
    PoolQuestion,
    PoolStatus,
    Scope,
    SourceStatus,
    TypeOrigin,
    TypesProposed,
    TypesReport,
)
from workbench.measuring.store import curation
from workbench.measuring.suggesting import agreement_of, type_reports
from workbench.runs.generation import Models, ServerGeneration, Watch, WritingRequest, generating
from workbench.runs.own_templates import CheckedTemplate, checked_call
from workbench.tables.table import Column, Columns, count, word
from workbench.verifiers.answer_type.verifier import (
    OUTSIDE,
    PROMPT,
    READING,
    READING_NAMED,
    named_in,
    prompt_in,
    published_request,
    request,
    suggestion,
)
from workbench.verifiers.judges.case import PreparedPrompt

# -- A question's answer type: resolved by annotators, else its file's, else one person's, else a model's proposal.


class NamedType(NamedTuple):
    code: str
    origin: TypeOrigin

    @property
    def letter(self) -> str:
        return self.code[0]


def current_type(question: PoolQuestion, *, confirmed: bool = False) -> NamedType | None:
    """Return a question's current type; None without one, or if annotators disagree.

    Args:
        confirmed: Whether to ignore types that only one annotator gave or a model proposed.
    """
    if question.disputed:
        return None
    if question.people_type is not None:
        return NamedType(question.people_type, "people")
    if question.file_type is not None:
        return NamedType(question.file_type, "file")
    if confirmed:
        return None
    if question.said_alone is not None:
        return NamedType(question.said_alone, "one person")
    return None if question.proposed is None else NamedType(question.proposed, "model")


def origin(question: PoolQuestion) -> str:
    """Return a word for the origin of a question's type, or for the reason why it has no type."""
    typed = current_type(question)
    return why_untyped(question) if typed is None else typed.origin


def why_untyped(question: PoolQuestion) -> str:
    if question.disputed:
        return "disputed"
    if question.said_alone is not None:
        return "one person"
    if question.outside is not None:
        return f"proposed {question.outside}"
    return "none" if question.proposed is None else "model"


Accepted = Literal["people", "model"]
"""Whose types are accepted: one person's, or the newest model's."""
USUAL = PROMPT.call.sampling
"""The default sampling of replies."""


class PersonType(Struct, frozen=True, kw_only=True):
    """The answer type that an annotator gives to a question.

    Attributes:
        question_id: The question's id in its data set.
        subtype: The subtype's code, such as ``B5``.
    """

    question_id: str
    subtype: str


class TypePrompt:
    """The prompt that asks a model for a type: the built-in one, or a user's copy of a published one.

    Args:
        template: The file with the copy of a published prompt; None for the built-in prompt.

    Raises:
        UsageError: The file can't be read or is not a prompt for types.
    """

    def __init__(self, template: Path | None) -> None:
        self._published = None if template is None else prompt_in(template)

    @property
    def config(self) -> dict[str, object]:
        if self._published is None:
            return {**PROMPT.config(), "parser": READING}
        return {**self._published.config(), "parser": READING_NAMED, "fence": False, "neutralise": False}

    def request(self, question: str, reference: str, secret: bytes) -> PreparedPrompt:
        if self._published is None:
            return request(question, reference, secret)
        return published_request(self._published, question, reference)

    def parse_reply(self, reply: str, fence: str | None) -> str | None:
        """Parse a reply. Return a subtype's code, or why the question has no type; None if the reply can't be
        parsed."""
        return suggestion(reply, fence) if self._published is None else named_in(reply)


_OURS: Final = TypePrompt(None)


def checked_type_prompt(path: Path) -> CheckedTemplate:
    """Check a published prompt as `propose_types` would use it.

    Raises:
        UsageError: The file can't be read or is not a prompt for types.
    """
    prompt = prompt_in(path)
    return CheckedTemplate(
        file=str(path),
        kind="prompt for types",
        id="types",
        version=1,
        sha256=prompt.sha256,
        standing=None,
        calls=(checked_call(prompt.call),),
        fence=False,
        parser="the last line that names a type or subtype",
        lacks=() if "answer" in prompt.call.names or "reference" in prompt.call.names else ("answer",),
        command="curate DB types",
        option=f"{opt.template:{path}}",
    )


def propose_types(
    project: Project,
    name: str,
    models: Models,
    scope: Scope,
    *,
    template: Path | None = None,
    untyped_only: bool = False,
    trust: bool = False,
    watch: Watch | None = None,
) -> TypesProposed:
    """Ask a model for the answer type of every included question. If the process is killed, the same call resumes.

    Args:
        name: The name of the proposals.
        template: A published prompt, sent unchanged; None for the built-in one.
        untyped_only: Whether to skip questions that have a type from annotators or their file.

    Raises:
        UsageError: There are no questions in scope, the prompt can't be read, or the name is in use for something else.
        NotTrustedError: The user has not accepted the servers.
        RunError: No call can succeed now, or another process is at work. Replies so far are stored.
    """
    questions = inside(project, scope)
    asking = _OURS if template is None else TypePrompt(template)
    config = asking.config
    with generating(project, f"types/{name}", models, config, trust=trust, watch=watch) as writer:
        known = curation.proposed_by(project.database.reader(), writer.run)
        wanted = [
            one
            for one in questions
            if one.id not in known and not (untyped_only and current_type(one, confirmed=True) is not None)
        ]
        for some in batches(wanted):
            proposals = _ask_for_types(project, writer, asking, some)
            with project.database.write() as connection:
                curation.propose(connection, writer.run, proposals)
    found = Counter(curation.proposed_by(project.database.reader(), writer.run).values())
    return TypesProposed(
        name=f"types/{name}",
        run=writer.run,
        asked=len(wanted),
        proposed={code: count for code, count in sorted(found.items()) if is_typed(code)},
        outside={code: found[code] for code in OUTSIDE.values() if found[code]},
        unreadable=found[UNREADABLE],
        failed=sum(writer.failed.values()),
    )


def _ask_for_types(
    project: Project, writer: ServerGeneration, asking: TypePrompt, questions: Sequence[PoolQuestion]
) -> list[tuple[int, str | None, str | None]]:
    reader = project.database.reader()
    texts, own = curation.texts(reader, [one.id for one in questions]), secret(reader)
    prepared = [asking.request(texts[one.id].question, texts[one.id].reference, own) for one in questions]
    replies = writer.ask([WritingRequest(messages=one.chat.messages, step="types") for one in prepared])
    proposals: list[tuple[int, str | None, str | None]] = []
    for question, sent, reply in zip(questions, prepared, replies, strict=True):
        if reply is not None:
            parsed = asking.parse_reply(reply, sent.fence)
            code = parsed if parsed is not None and is_typed(parsed) else None
            proposals.append((question.id, code, None if code is not None else parsed or UNREADABLE))
    return proposals


def say_types(project: Project, said: Sequence[PersonType], *, by: str, dataset: str | None = None) -> LabelsImported:
    """Store an annotator's types as labels of the task ``type``, like an import of a label file.

    The labels are marked as given with a proposal in view, so they are left out of agreement. A later label replaces
    an earlier one by the same annotator.

    Raises:
        UsageError: A question does not exist or is named twice, or a subtype is unknown.
    """
    twice = [one for one, count in Counter(one.question_id for one in said).items() if count > 1]
    if twice:
        raise UsageError(f"The type of {twice[0][:100]!r} is given twice.", "Give it once.")
    for one in said:
        code = parse_type(one.subtype)
        if code is None or not code.is_subtype:
            raise UsageError(f"{one.subtype[:100]!r} is not a valid subtype.", "Write its code, such as A1 or D2.")
    reader = project.database.reader()
    person = next(
        (one.id for one in people.all_people(project.database) if one.name == people.normalise_name(by)), None
    )
    lines = []
    for one, number in zip(said, by_ids(project, [one.question_id for one in said], dataset), strict=True):
        earlier = [event for event in events.events_of(reader, "type", number) if event.annotator == person]
        line = LabelLine(question_id=one.question_id, dataset=dataset, annotator=by, answer_subtype=one.subtype)
        line.revision = 1 + sum(event.kind == "label" for event in earlier)
        line.unblinded = True
        lines.append(line)
    return put_lines(project, lines)


def accept_types(project: Project, scope: Scope, what: Accepted, *, by: str) -> LabelsImported:
    """Resolve the types of included questions by labels or proposals, so that they are used everywhere.

    Each is a decision of the task ``type``, like an adjudicator's: a later label reopens the question. If a person
    accepts their own label, the label is retracted, since one person can't be both annotator and adjudicator.

    Args:
        what: ``people`` for types that only one annotator gave, ``model`` for the newest proposals on questions
            without a label.
        by: The person who accepts them.

    Raises:
        UsageError: There are no questions in scope, or ``by`` is not a valid name.
    """
    accepted = [
        (one, one.said_alone if what == "people" else one.proposed if origin(one) == "model" else None)
        for one in inside(project, scope)
    ]
    # A published prompt may ask for the type alone, but annotators resolve subtypes.
    return resolve_types(project, [(one, code) for one, code in accepted if code and is_subtype(code)], by=by)


def resolve_types(project: Project, settled: Sequence[tuple[PoolQuestion, str]], *, by: str) -> LabelsImported:
    """Resolve the types of questions, as `accept_types` does.

    Args:
        settled: Questions, each with its subtype.
    """
    reader = project.database.reader()
    lines, questions = [], dict[tuple[str | None, str | None], int]()
    for one, code in settled:
        questions[one.dataset, one.key] = one.id
        earlier = events.events_of(reader, "type", one.id)
        line = LabelLine(question_id=one.key, dataset=one.dataset, annotator=by, answer_subtype=code)
        line.role = "adjudicator"
        line.revision = 1 + sum(event.kind == "adjudication" for event in earlier)
        line.unblinded = True
        lines.append(line)

    def take_back(connection: events.Connection, line: LabelLine) -> None:
        person = people.add(connection, people.normalise_name(line.annotator))
        held = events.current_of(connection, "type", questions[line.dataset, line.question_id], person, "label")
        if held is not None:
            ledger.record(connection, events.undo_event(held, None, people.now()))

    return put_lines(project, lines, take_back)


def types_report(project: Project, scope: Scope) -> TypesReport:
    """Report the origins of the types of included questions, and how well each model's proposals and suggestions agree
    with annotators and files.

    Raises:
        UsageError: There are no questions in scope.
    """
    questions = inside(project, scope)
    reader = project.database.reader()

    def proposed(by: tuple[int, str]) -> TypeReport:
        run, name = by
        return agreement_of(name, run, list(curation.suggestions(reader, run)))

    return TypesReport(
        questions=len(questions),
        counting=sum(current_type(one, confirmed=True) is not None for one in questions),
        alone=sum(one.said_alone is not None for one in questions),
        origins=dict(sorted(Counter(map(origin, questions)).items())),
        proposals=(
            *(
                agreement_of(name, run, list(curation.suggestions(reader, run)))
                for run, name in curation.proposers(reader)
            ),
            *type_reports(project),
        ),
    )


def proposals(project: Project) -> Iterator[TypeSuggestion]:
    """Yield the proposals of the model that was asked last, one for each question, with the subtypes from annotators
    or files.

    Raises:
        UsageError: No model has proposed types.
    """
    reader = project.database.reader()
    runs = curation.proposers(reader)
    if not runs:
        raise UsageError("No model has proposed types yet.", "Ask one", Command("curate DB types", model="NAME"))
    yield from curation.suggestions(reader, runs[-1][0])


# -- The pool by source: numbers of imported, excluded (with reasons), typed and drawn questions.


def pool_status(project: Project, scope: Scope) -> PoolStatus:
    """Count the selected questions by source; sources are in the order of their names.

    Raises:
        UsageError: There are no questions in scope.
    """
    questions = pool(project, scope)
    reader = project.database.reader()
    drawn: dict[str, dict[str, int]] = {}
    for name, source, n in curation.drawn(reader):
        drawn.setdefault(source or NAMELESS, {})[name] = n
    by_source = grouped((question.source or NAMELESS, question) for question in questions)
    everywhere: Counter[str] = Counter()
    for name in by_source:
        everywhere.update(drawn.get(name, {}))
    return PoolStatus(
        questions=len(questions),
        stale=curation.count_stale_duplicates(reader),
        total=_source_status("all", questions, everywhere, licensed=False),
        sources=tuple(_source_status(name, found, drawn.get(name, {})) for name, found in sorted(by_source.items())),
    )


def _source_status(
    name: str, questions: Sequence[PoolQuestion], drawn: Mapping[str, int], *, licensed: bool = True
) -> SourceStatus:
    inside = [one for one in questions if one.out is None]
    types = Counter("none" if (typed := current_type(one)) is None else typed.letter for one in inside)
    return SourceStatus(
        source=name,
        domain=questions[0].domain if licensed else None,
        licence=questions[0].licence if licensed else None,
        questions=len(questions),
        excluded=dict(sorted(Counter(one.out for one in questions if one.out is not None).items())),
        left=len(inside),
        types=dict(sorted(types.items())),
        origins=dict(sorted(Counter(map(origin, inside)).items())),
        drawn=dict(drawn),
    )


def _type_column(letter: str) -> Column[SourceStatus]:
    return count(letter, lambda one: one.types.get(letter, 0))


SOURCES: Final[Columns[SourceStatus]] = (
    word("source", lambda one: one.source, room=(12, 40), tone="bold"),
    word("licence", lambda one: "" if one.source == "all" else one.licence or "unknown", room=(7, 24)),
    count("questions", lambda one: one.questions, room=9),
    count("out", lambda one: one.questions - one.left),
    count("left", lambda one: one.left),
    *map(_type_column, TYPES),
    count("other", lambda one: sum(n for letter, n in one.types.items() if letter not in (*TYPES, "none"))),
    count("untyped", lambda one: one.types.get("none", 0)),
    count("drawn", lambda one: sum(one.drawn.values())),
)
"""The pool, source by source."""
