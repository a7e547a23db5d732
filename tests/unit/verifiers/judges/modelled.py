"""A model server for MCTS-Judge: replies depend on the bytes of the request and have the requested form."""

from __future__ import annotations

from zlib import crc32

from tests.servers.scripted import Received
from tests.unit.verifiers.judges.coin import as_json


def modelled(received: Received) -> str:
    """Five tests, PASS, a coin for each verdict, or a thought."""
    asked = "\n".join(message["content"] for message in received.body["messages"])
    mark = crc32(received.raw)
    if "The test cases in JSON" in asked:
        return as_json(*(f"{mark} {number}" for number in range(5)))
    if "FAIL if it is not" in asked:
        return "PASS"
    if "MATCH or NOT MATCH" in asked:
        return "MATCH" if mark % 4 else "NOT MATCH"
    if "Yes or No only" in asked:
        return "Yes" if mark % 2 else "No"
    return f"Thought {mark}."
