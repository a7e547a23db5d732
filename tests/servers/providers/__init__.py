"""The responses of each kind of server in every case, taken from its SDK, source code or documentation.

One file per provider: its complete reply, and for every case the differences or another response, with the source.
`CASES` has the outcome of each case, the same for every provider. `document` generates the site's page of servers.
"""

from __future__ import annotations

import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from msgspec import Struct, convert

from tests.servers.wire import Scripted

FOLDER: Final = Path(__file__).parent
TEXT: Final = "Both come to the same.\n\nFinal Judgment: Yes"

Played = Literal["one", "first", "all"]
"""The calls that meet a case: one item among others, the first calls, or all."""


class Case(NamedTuple):
    """The expected outcome of a case.

    Attributes:
        does: The action, in the words of the page's table.
        outcome: The verdict on the item; for ``all`` the code of the run's halt.
        wasted: The maximum number of calls without a verdict, in addition to rejected calls.
    """

    title: str
    played: Played
    does: str
    outcome: str
    wasted: int = 0


CASES: Final[dict[str, Case]] = {
    "plain": Case("plain reply", "one", "verdict", "correct"),
    "thinking": Case("thoughts", "one", "verdict", "correct"),
    "refusal": Case("refusal", "one", "abstains", "abstain refused"),
    "filter": Case("filter", "one", "error", "error content_filter"),
    "cut": Case("cut short", "one", "abstains", "abstain truncated"),
    "too_long": Case("too long", "one", "error", "error context_length"),
    "overload": Case("overload", "first", "waits", "correct"),
    "rate": Case("rate limit", "first", "waits", "correct"),
    "html": Case("HTML page", "first", "tries again", "correct"),
    "malformed": Case("malformed", "first", "tries again", "correct"),
    "reset": Case("reset", "first", "tries again", "correct"),
    "day_quota": Case("day's quota", "all", "pauses", "quota", 1),
    "spent": Case("credit spent", "all", "pauses", "quota", 1),
    "wrong_key": Case("wrong key", "all", "pauses", "auth", 1),
    "wrong_model": Case("wrong model", "all", "pauses", "bad_request", 5),
    "wrong_parameter": Case("wrong field", "all", "pauses", "bad_request", 5),
}


class Cell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A provider's response in a case.

    Attributes:
        none: Why this provider has no such case.
        text: The text of the complete reply; ``message``, ``finish``, ``usage`` and ``fields`` (of the whole body)
            are other parts that differ.
        body: Another body to send instead.
        cut_text: Send only so many bytes of the complete reply.
        reset: The connection is closed in the middle of the whole reply.
        prefix: Text before a complete reply.
        seconds: The wait that the server requests.
        says: The part of its message that users see.
    """

    source: str = ""
    none: str = ""
    status: int = 200
    headers: dict[str, str] = {}
    text: str | None = None
    message: dict[str, Any] = {}
    finish: str | None = None
    fields: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    body: str | None = None
    cut_text: int | None = None
    reset: bool = False
    prefix: str = ""
    seconds: float = 0.0
    says: str = ""


class Provider(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of server.

    Attributes:
        server: The profile of that name.
        path: The path of its base URL.
        reply: The complete reply.
        others: Other behaviour and the reaction to it, in sentences, each with its source; tests of the client cover
            them.
    """

    title: str
    server: str
    model: str
    path: str = "/v1"
    reply: Cell
    cases: dict[str, Cell]
    others: dict[str, str] = {}

    def cell(self, case: str) -> Cell:
        """Return the provider's response in a case."""
        if case == "plain":
            return self.reply
        missing = Cell(none="is reported like a day's quota") if case == "spent" else None
        return self.cases.get(case) or _common().get(case) or missing or self.cases[case]

    def answer(self, case: str, text: str = TEXT) -> Scripted:
        """Return the HTTP response of a case."""
        cell = self.cell(case)
        whole = json.dumps(self._whole(cell, text if cell.text is None else cell.text))
        headers = {**self.reply.headers, **cell.headers}
        if cell.body is not None and case != "plain":
            return Scripted(cell.status, cell.headers, cell.body)
        if cell.cut_text is not None:
            return Scripted(cell.status, headers, whole[: cell.cut_text])
        return Scripted(cell.status, headers, self.reply.prefix + whole, cut=60 if cell.reset else None)

    def _whole(self, cell: Cell, text: str) -> Any:
        reply = json.loads((self.reply.body or "").replace("@TEXT@", json.dumps(text)[1:-1]))
        if "choices" in reply:
            (choice,) = reply["choices"]
            choice["message"] |= {name: None if value == "@null@" else value for name, value in cell.message.items()}
            choice["finish_reason"] = cell.finish or choice["finish_reason"]
        reply["usage"] |= cell.usage
        return reply | cell.fields


@cache
def providers() -> dict[str, Provider]:
    """Return all providers, by the names of their files."""
    files = (file for file in sorted(FOLDER.glob("*.toml")) if file.stem != "common")
    return {file.stem: convert(tomllib.loads(file.read_text(encoding="utf-8")), Provider) for file in files}


@cache
def _common() -> dict[str, Cell]:
    data = tomllib.loads((FOLDER / "common.toml").read_text(encoding="utf-8"))
    return convert(data["cases"], dict[str, Cell])
