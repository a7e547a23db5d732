"""Transcripts are JSON Lines that can be replayed, whatever the layout of the replies."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tests.served_runs import VERIFIER, HereRunner, here
from tests.servers.scripted import Scripted, chat_reply, scripted
from workbench.runs.replaying import load_recorded_replies
from workbench.runs.transcripts import recorded_exchanges

REPLY = chat_reply("Yes, \u2028 it is.")
LAYOUTS = {
    "one line": json.dumps(REPLY).encode(),
    "many lines": json.dumps(REPLY, indent=2).encode(),
    "keep-alives before it": b"\n : WAIT\n\n" + json.dumps(REPLY).encode(),
}


def lines_of(runs: HereRunner) -> list[bytes]:
    return [msgspec.json.encode(one) for one in recorded_exchanges(runs.project, VERIFIER)]


@pytest.mark.parametrize("body", LAYOUTS.values(), ids=LAYOUTS)
def test_every_exchange_is_a_line_and_can_be_replayed(tmp_path: Path, body: bytes) -> None:
    with here(tmp_path, 2) as runs, scripted(lambda _: Scripted(body=body)) as server:
        assert runs.start(server.url).state == "complete"
        lines = lines_of(runs)
    assert [json.loads(line)["response"] for line in lines] == [REPLY, REPLY]
    assert not any(b"\n" in line for line in lines)
    file = tmp_path / "replies.jsonl"
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    book, refused = load_recorded_replies(file)
    assert refused == []
    answer = book.answer("/v1/chat/completions", server.received[0].raw)
    assert answer is not None
    assert json.loads(answer) == REPLY


@pytest.mark.few(5)
@pytest.mark.parametrize("stored", [b"", b"no JSON\n", b'{"a": "\xff"}', b"[" * 100_000, b'{"a": "b\nc"}'])
def test_invalid_replies_in_a_foreign_database_break_no_line(tmp_path: Path, stored: bytes) -> None:
    with here(tmp_path, 1) as runs, scripted(lambda _: "Yes") as server:
        runs.start(server.url)
        with runs.project.database.write() as connection:
            connection.execute("UPDATE responses SET body = ?", (stored,))
        (line,) = lines_of(runs)
    assert json.loads(line)["response"] == stored.decode("utf-8", "replace")
