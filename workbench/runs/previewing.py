"""Show a verifier's requests exactly as sent, check its servers, and parse recorded replies."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from workbench.core.database.hashes import secret
from workbench.core.errors import Command, UsageError
from workbench.core.item import Refusal
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.verdict import Outcome, VerifierInput
from workbench.data.formats.documents import documents
from workbench.data.formats.lines import RefusedError, explain_document, make_refusal
from workbench.data.formats.source import open_once
from workbench.data.records import BrowseQuery
from workbench.data.store import browsing
from workbench.llm.check import ServerFinding, check
from workbench.llm.records import CallFailed, Chat, Reply, Request, ending
from workbench.llm.server import ModelServer
from workbench.runs.choosing import construct_verifier, resolve_verifier
from workbench.runs.store.verifier_inputs import inputs, with_rivals
from workbench.runs.trust import require_trust
from workbench.verifiers.base import ServedVerifier
from workbench.verifiers.judges.parsers import PARSERS, Parser, parser
from workbench.verifiers.judges.verifier import LlmJudge, PlannedRequest, preview, prompt_notes


class PreviewedCall(Struct, frozen=True, kw_only=True):
    """One request as it would be sent.

    Attributes:
        step: The call's purpose.
        role: The role of the verifier's server.
        exact: Whether the body is exact; otherwise a placeholder replaces text that a model has yet to write.
        url: The address.
        body: The exact bytes.
        notes: Descriptions of the settings that could not be sent as requested.
    """

    step: str
    role: str
    exact: bool
    url: str
    body: msgspec.Raw
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the body in readable form: one field a line, with the texts' own line breaks."""
        return list(_body_lines("", msgspec.json.decode(self.body)))


def preview_calls(
    project: Project, kind: str, options: dict[str, str], completion: str | int | None = None
) -> list[PreviewedCall]:
    """Return the requests about an item, one for each step of the verifier.

    Args:
        kind: A kind, or the name of a verifier in ``workbench.toml`` or the database.
        options: Option values; they override the options stored under the name.
        completion: The completion's own id, or its row id; None for the first item.

    Raises:
        UsageError: There is no such verifier, option or item, several items have the id, or the verifier asks no
            server.
        VerifierError: The verifier can't be used.
    """
    choice = resolve_verifier(project, kind, options)
    verifier = construct_verifier(choice)
    if verifier.isolation != "served":
        raise UsageError(f"{choice.name!r} asks no model server; there is nothing to preview.")
    (item,) = with_rivals(project.database, verifier, [_item(project, completion)])
    asked = cast("ServedVerifier", verifier)
    planned = asyncio.run(preview(asked, item, secret(project.database.reader())))
    return [_previewed_call(asked, one) for one in planned]


def _item(project: Project, completion: str | int | None) -> VerifierInput:
    reader = project.database.reader()
    if completion is None:
        found = browsing.first_ids(reader, BrowseQuery(), 1)
    elif isinstance(completion, int):
        found = [completion]
    else:
        found = browsing.with_key(reader, completion)
    if completion is None and not found:
        raise UsageError("There is no item yet.", "Import some", Command("import DB FILE"))
    if len(found) != 1:
        raise UsageError(
            f"There is no completion {completion!r}."
            if not found
            else f"{len(found)} completions have the id {completion!r}.",
            f"List some: {Command('verdicts')}, or {Command('export')}.",
        )
    return inputs(project.database, found)[0]


def _previewed_call(verifier: ServedVerifier, planned: PlannedRequest) -> PreviewedCall:
    from workbench.llm.endpoint import Endpoint
    from workbench.llm.waits import Clock

    server = verifier.servers()[planned.role]
    endpoint = Endpoint(server, None, Clock())
    try:
        built = endpoint.prepare(planned.request, 0).built
    except CallFailed as error:
        raise UsageError(f"{planned.step}: {error.detail}") from None
    return record_from(
        PreviewedCall,
        planned,
        url=endpoint.url(built),
        body=msgspec.Raw(built.body),
        notes=(*prompt_notes(verifier), *built.notes),
    )


def _body_lines(place: str, value: Any) -> Iterator[str]:
    match value:
        case dict():
            for key, part in value.items():
                yield from _body_lines(f"{place}.{key}" if place else key, part)
        case list():
            for number, part in enumerate(value):
                yield from _body_lines(f"{place}[{number}]", part)
        case str() if "\n" in value:
            yield f"{place}:"
            yield from (f"  | {line}" for line in value.split("\n"))
        case _:
            yield f"{place}: {msgspec.json.encode(value).decode()}"


# -- Checks of a verifier's servers.


_SECRET = b"\0" * 32
_ANY = VerifierInput(item=0, question="1 + 1?", reference="2", completion="2")
"""An arbitrary item, to see which calls a verifier makes."""


class CheckedServer(Struct, frozen=True, kw_only=True):
    """Findings about one server of a verifier.

    Attributes:
        roles: The verifier's roles that use it (``"judge"`` ...).
    """

    roles: list[str]
    base_url: str
    model: str
    findings: list[ServerFinding]


def check_servers(project: Project, kind: str, options: dict[str, str], *, trust: bool = False) -> list[CheckedServer]:
    """Diagnose the servers of a verifier, and try a call.

    Args:
        kind: A kind, or the name of a verifier in ``workbench.toml`` or the database.
        options: Option values; they override the options stored under the name.
        trust: Whether the user approves servers that a file or the database names.

    Raises:
        UsageError: There is no such verifier or option, or it asks no server.
        NotTrustedError: The user has not approved the servers.
        VerifierError: The verifier can't be used.
    """
    choice = resolve_verifier(project, kind, options)
    verifier = construct_verifier(choice)
    if verifier.isolation != "served":
        raise UsageError(f"{choice.name!r} asks no model server.", "Verifiers that do: llm-judge, reward-model.")
    require_trust(project, verifier, choice.options, accept=trust or choice.own)
    return asyncio.run(_check_each_server(cast("ServedVerifier", verifier)))


async def _check_each_server(verifier: ServedVerifier) -> list[CheckedServer]:
    planned = await preview(verifier, _ANY, _SECRET)
    requests = {
        role: _distinct_requests([one.request for one in planned if one.role == role]) for role in verifier.servers()
    }
    roles: dict[bytes, list[str]] = {}
    asked: dict[bytes, tuple[ModelServer, list[Request]]] = {}
    for role, server in verifier.servers().items():
        one = server, requests[role]
        # Additions to a request may be a mapping, which can't be a dictionary key.
        key = msgspec.json.encode(one)
        asked[key] = one
        roles.setdefault(key, []).append(role)
    return [
        CheckedServer(
            roles=roles[key],
            base_url=server.base_url,
            model=server.model,
            findings=await check(
                server, told, read_reply=partial(_parsing_finding, verifier) if "judge" in roles[key] else None
            ),
        )
        for key, (server, told) in asked.items()
    ]


def _distinct_requests(requests: list[Request]) -> list[Request]:
    kinds = {
        msgspec.json.encode(one.sampling if isinstance(one, Chat) else one.task): one for one in reversed(requests)
    }
    return sorted(kinds.values(), key=requests.index)


async def _parsing_finding(verifier: ServedVerifier, reply: Reply) -> ServerFinding | None:
    asked = 0

    async def first(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        nonlocal asked
        asked += 1
        if asked > 1:
            raise CallFailed("cancelled", "only one call is tried")
        return reply

    if verifier.name != LlmJudge.name:
        return None
    try:
        verdict = (await verifier.judge(_ANY, first, _SECRET)).verdict
    except CallFailed:
        return None
    word = verdict.outcome.word + (f" ({verdict.reason})" if verdict.reason else "")
    said = f"The question has a right answer, of which that says: {word}."
    if verdict.outcome is Outcome.CORRECT:
        return ServerFinding("good", said)
    return ServerFinding("note", said, "Try it on a few items before you trust it.")


# -- Recorded judge replies: JSON Lines with the reply in ``raw``, and any other fields.


FIELD = "raw"
ENDING = "finish_reason"
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])
_TEXT = msgspec.json.Decoder(str)


class RecordedReply(Struct, frozen=True):
    """One line of a file of replies.

    Attributes:
        fields: All fields of the line, unchanged and in their order.
        raw: The reply's text, the field ``raw``.
        finish_reason: The server's finish reason; None if the line lacks it.
    """

    fields: dict[str, msgspec.Raw]
    raw: str
    finish_reason: str | None = None


def read(path: Path | None) -> Iterator[RecordedReply | Refusal]:
    """Yield the replies of a file, or of standard input for None, and a `Refusal` for each invalid line.

    Raises:
        FormatError: The file can't be opened.
    """
    with open_once(path) as stream:
        for row in documents(stream, "jsonl", path or Path("-")):
            yield row if isinstance(row, Refusal) else _recorded_reply(row.line, row.raw)


def _recorded_reply(number: int, line: bytes) -> RecordedReply | Refusal:
    try:
        line.decode()
        fields = _OBJECT.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return make_refusal(number, line, explain_document(line))
    token = fields.get(FIELD)
    if token is None:
        missing = RefusedError("missing_field", FIELD, f"{FIELD} is missing. Put the judge's reply there, as text.")
        return make_refusal(number, line, missing)
    try:
        return RecordedReply(fields, _TEXT.decode(token), _finish_reason(fields.get(ENDING)))
    except msgspec.ValidationError:
        wrong = RefusedError("wrong_type", FIELD, f"{FIELD} is not text. Write the judge's reply in quotes.")
        return make_refusal(number, line, wrong)


def _finish_reason(token: msgspec.Raw | None) -> str | None:
    try:
        return None if token is None else _TEXT.decode(token)
    except msgspec.ValidationError:
        return None


# -- Parsing recorded judge replies with any parser.


ParsedLine = dict[str, msgspec.Raw | str | float | None]
"""A line's fields in their order, then ``verdict``, ``score`` and ``label``."""


def parser_names() -> list[str]:
    return [one.id for one in PARSERS]


def parse_replies(name: str, path: Path | None) -> Iterator[ParsedLine | Refusal]:
    """Yield the lines of a file with the parser's results, one at a time, and a `Refusal` for each invalid line.

    Args:
        name: A parser, such as ``ice-score@1``; without a version, the newest one of that name.
        path: JSON lines with a text ``raw``, gzip or not; None for standard input.

    Raises:
        UsageError: There is no such parser.
        FormatError: The file can't be opened.
    """
    return _parse_lines(parser(name), path)


def _parse_lines(chosen: Parser, path: Path | None) -> Iterator[ParsedLine | Refusal]:
    for line in read(path):
        if isinstance(line, Refusal):
            yield line
            continue
        ended = ending(Reply(finish_reason=line.finish_reason))
        reading = chosen.parse(line.raw, None, ended)
        yield {**line.fields, "verdict": reading.verdict, "score": reading.score, "label": reading.label}
