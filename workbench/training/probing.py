"""Probe a served verifier: send a reward server the probes in the form that trainers use."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final, TypeVar
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec import Struct

from workbench.core.closing import Closing
from workbench.core.errors import Command, RunError, UsageError
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.text.inert import inert
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.transport import MAX_REPLY_BYTES
from workbench.runs.probes import Collector, ProbingPlan, Subject, Watch, run
from workbench.statistics.records.probe import ProbeReport
from workbench.training.records import RewardAnswer, RewardAnswers, RewardBatch, RewardHealth, RewardItem, RewardRefusal
from workbench.verifiers.base import identity

_TIMEOUT_S: Final = 600.0
_MAX_ATTEMPTS: Final = 60
"""Maximum attempts to send a request that finds the queue full, one second apart."""
_OUTCOMES: Final = {outcome.word: outcome for outcome in Outcome}
Document = TypeVar("Document", bound=Struct)


class RewardClient(Closing):
    """A client of a reward server, over one connection.

    Args:
        url: The server's address, such as ``http://localhost:8100``.
        token: The token for ``Authorization: Bearer``; None without one.

    Raises:
        UsageError: The address is not an http(s) URL.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        try:
            base = httpx.URL(url if urlsplit(url).hostname else "")
        except (ValueError, httpx.InvalidURL):
            base = httpx.URL()
        if base.scheme not in ("http", "https") or not base.host:
            raise UsageError(f"{url!r} is not a valid server address.", "Give one such as http://localhost:8100.")
        self.url = f"{base.scheme}://{base.netloc.decode()}{base.path.rstrip('/')}"
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        headers |= {} if token is None else {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(headers=headers, timeout=_TIMEOUT_S, trust_env=False)

    def health(self) -> RewardHealth:
        """Return the served verifier and the server's state.

        Raises:
            RunError: The server can't be reached, or is not a reward server.
        """
        _, body = self._send("GET", "/health", None)
        return self._decode(body, RewardHealth)

    def answers(self, items: list[RewardItem]) -> list[RewardAnswer]:
        """Return the answers on items, in order; requests that were rejected because the queue is full are sent again.

        Raises:
            RunError: The server can't be reached, rejects the request, or sends an invalid answer.
        """
        asked = msgspec.json.encode(RewardBatch(items=items))
        for _ in range(_MAX_ATTEMPTS):
            status, body = self._send("POST", "/reward", asked)
            if status == httpx.codes.OK:
                found = self._decode(body, RewardAnswers).items
                if [one.id for one in found] != [one.id for one in items]:
                    raise RunError(f"{self.url} answered for other items than those it was sent.")
                return found
            refusal = self._decode(body, RewardRefusal)
            if status != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(1.0)
        raise RunError(f"{self.url} rejects the probes: {inert(refusal.error)}", "Fix that, and probe again.")

    def close(self) -> None:
        self._client.close()

    def _send(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        received = bytearray()
        try:
            with self._client.stream(method, self.url + path, content=body) as answer:
                for chunk in answer.iter_bytes():
                    received += chunk
                    if len(received) > MAX_REPLY_BYTES:
                        raise RunError(f"{self.url} sends more than {MAX_REPLY_BYTES:,} bytes: it is no reward server.")
        except httpx.HTTPError as error:
            raise RunError(
                f"{self.url} doesn't answer: {inert(str(error)) or type(error).__name__}.",
                f"Start it with {Command('reward-server')}, and probe again.",
            ) from error
        return answer.status_code, bytes(received)

    def _decode(self, body: bytes, kind: type[Document]) -> Document:
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise RunError(f"{self.url} is not a reward server.") from error


def probe_served(
    project: Project, planned: ProbingPlan, url: str, token: str | None = None, watch: Watch | None = None
) -> ProbeReport:
    """Have a reward server judge the probes of its verifier, and store the report of the probes as `run` does.

    Args:
        planned: The plan for the project's verifier, which need not be usable on this machine.
        url: See `RewardClient`.

    Raises:
        UsageError: The server serves another verifier or configuration, or the address is invalid.
        RunError: The server can't be reached, rejects requests, or is not a reward server.
    """
    with RewardClient(url, token) as client:
        served = client.health()
        if (served.version, served.identity) != (planned.verifier.version, identity(planned.verifier)):
            what = f"{inert(served.verifier)} {inert(served.version)}"
            raise UsageError(
                f"{client.url} serves {what}, which is not {planned.name!r} {planned.verifier.version} as it is here.",
                "Name the verifier that it serves, with the options that it was started with.",
            )

        def judge(subjects: Iterable[Subject], collector: Collector) -> int:
            for chunk in collector.inputs(subjects):
                if chunk:
                    collector.store(_judge_items(client, chunk))
                    collector.check()
            return 0

        return run(project, planned, watch, judge, at=client.url)


def _judge_items(client: RewardClient, items: list[VerifierInput]) -> list[tuple[int, Verdict]]:
    asked = [record_from(RewardItem, item, id=item.item) for item in items]
    return [
        (item.item, record_from(Verdict, answer, outcome=_OUTCOMES[answer.verdict]))
        for item, answer in zip(items, client.answers(asked), strict=True)
    ]
