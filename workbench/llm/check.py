"""Diagnose a server: whether it can be used, and if not, why."""

from __future__ import annotations

import math
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct, structs

from workbench.core.text.inert import inert
from workbench.llm.caller import NOT_RECORDED, origin_of
from workbench.llm.dialects import read
from workbench.llm.endpoint import ADVICE, Endpoint, Secrets, advice_on
from workbench.llm.failures import AttemptFailed, classify_response, one_line
from workbench.llm.profiles import DEFAULT, PROFILES, Profile, plain_model
from workbench.llm.records import CallFailed, Chat, Halt, Reply, Request, Scoring
from workbench.llm.server import ModelServer, join_url
from workbench.llm.server_json import decoded_json
from workbench.llm.transport import Transport
from workbench.llm.waits import Clock


def _model_rows(listed: Any) -> list[dict[str, Any]]:
    rows = listed.get("data") if isinstance(listed, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def kind_of_models(listed: Any) -> str | None:
    """Return the profile that a list of models indicates; None if it is ambiguous."""
    owners = {row.get("owned_by") for row in _model_rows(listed)}
    named = {owner.lower() for owner in owners if isinstance(owner, str)}
    kinds = [name for name, profile in PROFILES.items() if not named.isdisjoint(profile.owners)]
    return kinds[0] if len(kinds) == 1 else None


Level = Literal["good", "note", "problem"]
_LISTED = 10
_TIMEOUT_S = 180.0
_LENGTHS = ("max_model_len", "context_length", "context_window", "max_context_length", "max_input_tokens")


class ServerFinding(Struct, frozen=True):
    """One finding about a server; quotations from the server in it are untrusted text.

    Attributes:
        level: ``"problem"`` if calls will fail, ``"note"`` if they may differ from what is expected, else ``"good"``.
        advice: What to do; "" if there is nothing to do.
    """

    level: Level
    text: str
    advice: str = ""


Read = Callable[[Reply], Awaitable[ServerFinding | None]]
"""Interprets a reply."""


async def check(
    server: ModelServer,
    requests: Sequence[Request],
    environment: Mapping[str, str] = os.environ,
    timeout_s: float = _TIMEOUT_S,
    read_reply: Read | None = None,
) -> list[ServerFinding]:
    """Request a server's list of models and a reply to each request; return findings about what it answers.

    Args:
        requests: The requests to try, as they will be sent later.
        timeout_s: Timeout of each call; the first may have to load the model.
        read_reply: Interprets the reply to the first request.

    Raises:
        UsageError: The profile or an address is wrong.
    """
    endpoint = Endpoint(server, None, Clock())
    try:
        secrets = await endpoint.secrets(environment)
    except Halt as missing:
        return [ServerFinding("problem", missing.message)]
    findings = _configuration_findings(endpoint, secrets.key, is_chat=any(isinstance(one, Chat) for one in requests))
    async with Transport() as transport:
        probe = _AddressProbe(transport, endpoint, secrets, timeout_s, read_reply)
        try:
            findings += await probe.run_checks(requests)
        except Halt as own:
            findings.append(ServerFinding("problem", own.message))
    return findings


def _configuration_findings(endpoint: Endpoint, key: str | None, *, is_chat: bool) -> list[ServerFinding]:
    profile, model = endpoint.profile, endpoint.server.model
    name = endpoint.key_place
    findings = [
        ServerFinding("note", f"{profile.title}, model {model!r}, {f'key from {name}' if key else 'without a key'}.")
    ]
    if key is not None and endpoint.sends_key_in_clear:
        findings.append(
            ServerFinding("note", f"The key in {name} crosses the network without encryption.", "Use https.")
        )
    if is_chat:
        findings += _chat_findings(profile, plain_model(model))
    return findings


def _chat_findings(profile: Profile, plain: str) -> list[ServerFinding]:
    refused = profile.no_prefill is not None and profile.no_prefill.match(plain)
    notes = {
        "The judge can't begin the model's reply: these words end the user's message.": refused
        or profile.prefill == "words",
        "The model is called through OpenAI's Responses API.": profile.dialect == "openai-responses",
        "top_k is not sent: this API has no such field.": not profile.top_k,
        "The model thinks first: temperature and top_p are not sent.": profile.thinking is not None
        and profile.thinking.match(plain),
    }
    findings = [ServerFinding("note", note) for note, holds in notes.items() if holds]
    if profile.cuts_silently:
        cut = "truncates prompts longer than the model's context without an error, and a call can't set the context."
        advice = (
            "Give the model a context there that holds your longest item (for Ollama: num_ctx in a Modelfile, or "
            "OLLAMA_CONTEXT_LENGTH)."
        )
        findings.append(ServerFinding("note", f"{profile.title} {cut}", advice))
    return findings


def _profile_findings(profile: Profile, kind: str | None) -> list[ServerFinding]:
    if kind is None or kind == profile.name:
        return []
    found = PROFILES[kind]
    if profile.name != DEFAULT:
        return [
            ServerFinding("note", f"It answers like {found.title}, not like {profile.title}.", f"Is it server={kind}?")
        ]
    gains = ["top_k is sent"] if found.top_k else []
    gains += ["replies can be begun"] if found.prefill != "words" else []
    gains += ["long prompts are watched"] if found.cuts_silently else []
    gains += ["it says what replies cost"] if found.tells_cost else []
    then = f"; then {' and '.join(gains)}" if gains else ""
    return [ServerFinding("note", f"It is {found.title}.", f"Set server={kind}{then}.")]


class _AddressProbe(Struct, frozen=True):
    transport: Transport
    endpoint: Endpoint
    secrets: Secrets
    timeout_s: float
    read_reply: Read | None

    async def run_checks(self, requests: Sequence[Request]) -> list[ServerFinding]:
        findings: list[ServerFinding] = []
        if not self.endpoint.profile.azure_paths:
            try:
                listed = await self._get_json(join_url(self.endpoint.base, "models"))
                findings += self._model_findings(listed)
                findings += _profile_findings(self.endpoint.profile, kind_of_models(listed))
            except AttemptFailed as failure:
                problem = self._failure_finding(failure)
                if failure.status is None or failure.code == "auth":
                    return [problem]
                findings.append(ServerFinding("note", f"{self.endpoint.base} lists no models ({failure.detail})."))
        called: list[ServerFinding] = []
        for number, request in enumerate(requests):
            called += await self._call_findings(request, self.read_reply if number == 0 else None)
            if any(one.level == "problem" for one in called):
                break
        if all(one.level != "problem" for one in called):
            # llama.cpp answers to any name; other servers load the requested model.
            findings = [structs.replace(one, level="note") if one.level == "problem" else one for one in findings]
        return findings + list(dict.fromkeys(called))

    async def _get_json(self, url: str) -> Any:
        received = await self.endpoint.exchange(self.transport, self.secrets, url, None, self.timeout_s)
        if received.status != 200:
            raise classify_response(received.status, received.headers, received.body)
        try:
            return decoded_json(received.body)
        except (ValueError, RecursionError):
            raise AttemptFailed("malformed", "what came back is not valid JSON", status=200) from None

    def _model_findings(self, data: Any) -> list[ServerFinding]:
        models = {row["id"]: row for row in _model_rows(data) if isinstance(row.get("id"), str)}
        wanted = self.endpoint.server.model
        if not models:
            return [ServerFinding("note", "The server lists no models.")]
        if wanted not in models:
            names = ", ".join(one_line(name) for name in sorted(models)[:_LISTED])
            more = f" and {len(models) - _LISTED} more" if len(models) > _LISTED else ""
            return [ServerFinding("problem", f"The server lists no model {wanted!r}.", f"It has: {names}{more}.")]
        length = next((models[wanted][name] for name in _LENGTHS if isinstance(models[wanted].get(name), int)), None)
        if length is None:
            return [ServerFinding("good", f"The model {wanted!r} is there.")]
        return [ServerFinding("good", f"The model {wanted!r} is there, with a context of {length} tokens.")]

    async def _call_findings(self, request: Request, read_reply: Read | None) -> list[ServerFinding]:
        clock = Clock()
        try:
            prepared = self.endpoint.prepare(request, 0)
            call = self.endpoint.call(prepared)
            began = clock.now()
            received = await self.endpoint.exchange(self.transport, self.secrets, call.url, call.body, self.timeout_s)
            ms = (clock.now() - began) * 1000
            origin = origin_of(received)
            if origin is not None and received.status == NOT_RECORDED:
                return [ServerFinding("good", f"It answers with recorded replies, from {origin}, and with no others.")]
            if received.status != 200:
                raise classify_response(received.status, received.headers, received.body)
            reply = read(received.body, prepared.built.task, self.endpoint.profile.name, prepared.count)
        except CallFailed as failure:
            return [self._failure_finding(failure)]
        findings = [ServerFinding("note", note) for note in prepared.built.notes]
        findings += _reply_findings(self.endpoint.server.model, request, reply, ms)
        made = None if read_reply is None else await read_reply(reply)
        return findings if made is None else [*findings, made]

    def _failure_finding(self, failure: CallFailed) -> ServerFinding:
        where = f"{self.endpoint.base}: "
        name = self.endpoint.key_place
        if failure.code != "auth":
            problem, advice = f"{failure.detail}.", advice_on(failure, ADVICE["failed"].get(failure.code, ""))
        elif self.secrets.key is None:
            problem = f"it requires a key ({failure.detail})."
            advice = "Name its variable (api_key_env) or file (api_key_file)."
        else:
            problem, advice = f"it rejects the key in {name} ({failure.detail}).", f"Set {name} again."
        return ServerFinding("problem", f"{where}{problem}", advice)


_SHOWN_TOKENS: Final = 3


def _reply_findings(model: str, request: Request, reply: Reply, ms: float) -> list[ServerFinding]:
    findings = []
    most = request.sampling.max_tokens if isinstance(request, Chat) else None
    if isinstance(request, Scoring) and request.task == "completions":
        findings.append(_token_finding(reply, ms))
    elif isinstance(request, Scoring):
        shown = ", ".join(f"{score:g}" for score in reply.scores)
        findings.append(ServerFinding("good", f"It scores: {shown}, in {ms:.0f} ms."))
    elif reply.finish_reason == "length":
        is_empty = not reply.text.strip()
        came = (
            "Its reply is empty: thinking took all of its" if is_empty else f"It replies: {_quoted(reply.text)}, cut at"
        )
        advice = "Give it more: max_tokens, or call_max_tokens for a single call."
        findings.append(ServerFinding("problem" if is_empty else "note", f"{came} {most or 'longest'} tokens.", advice))
    elif reply.text.strip():
        findings.append(ServerFinding("good", f"It replies: {_quoted(reply.text)}, in {ms:.0f} ms."))
    else:
        findings.append(ServerFinding("problem", f"Its reply is empty (it ended with {reply.finish_reason!r})."))
    if reply.model is not None and reply.model != model:
        findings.append(ServerFinding("note", f"It names the model that replied {_quoted(reply.model)}."))
    return findings


def _token_finding(reply: Reply, ms: float) -> ServerFinding:
    if not reply.tokens:
        advice = "Without logprobs there is no score. Use another server, or a dialect= whose replies are numbers."
        return ServerFinding("problem", "It returns no probabilities of the next token.", advice)
    likeliest = sorted(reply.tokens[0].likeliest, key=lambda one: -one[1])[:_SHOWN_TOKENS]
    shown = ", ".join(f"{_quoted(text)} {math.exp(min(logprob, 0.0)):.3f}" for text, logprob in likeliest)
    return ServerFinding("good", f"Next may come: {shown}, in {ms:.0f} ms.")


def _quoted(text: str) -> str:
    return f"'{inert(one_line(text))}'"
