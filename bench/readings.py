"""The effect of each reading of MCTS-Judge's ambiguous points on verdicts and calls, with a simulated judge.

Usage: python -m bench.readings [--items 500]

Half of the items are correct. The judge is right about a subtask in 62 of 100 calls, about g in 60, about a simulated
execution of a test in 70; its self-assessment is Yes in 80, and it finds errors in half of all reasoning, sound or not.
The outcome of a test on an item is drawn once: for wrong code 60 of 100 tests fail. Prints one line per reading, the
same as in docs/papers.md: accuracy, verdicts that equal h, verdicts that differ from the default's, searches without a
reward, and distinct calls per item without those that write tests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any, Final
from zlib import crc32

from msgspec import Struct

from workbench.core.verdict import Outcome, VerifierInput
from workbench.llm.records import Chat, Reply, Request
from workbench.verifiers.judges.verifier import LlmJudge

READINGS: Final[dict[str, dict[str, str]]] = {
    "default: h(x), terminal": {},
    "traj_weight=states": {"traj_weight": "states"},
    "traj_weight=node_q": {"traj_weight": "node_q"},
    "reward_tests=per_rollout": {"reward_tests": "per_rollout"},
    "both, as before": {"reward_tests": "per_rollout", "traj_weight": "node_q"},
    "simulation=nodes": {"simulation": "nodes"},
    "simulation=nodes, node_q": {"simulation": "nodes", "traj_weight": "node_q"},
    "global_mode=tiebreak": {"global_mode": "tiebreak"},
    "selection=uct": {"selection": "uct"},
    "reuse=subtask": {"reuse": "subtask"},
    "reward=discussion": {"reward": "discussion"},
    "reward=self_consistency": {"reward": "self_consistency"},
    "reward=self_evaluation": {"reward": "self_evaluation"},
}
_RIGHT: Final = {"summarise": 62, "global": 60, "compare": 70}
_FAILS: Final = 60
_YES: Final = {"self-assess": 80, "self-evaluate": 50}
_WRITING: Final = ("generate", "reformat", "validate")


class Consequence(Struct, frozen=True):
    """The results of a reading.

    Attributes:
        as_h: The share of verdicts that equal h, of items whose tests were executed once; None if they were not.
        changed: The share of verdicts that differ from the default's on the same item.
        calls: Calls per item, without those that write tests.
    """

    reading: str
    accuracy: float
    as_h: float | None
    changed: float
    no_reward: float
    calls: float


class _Model:
    """A judge with the accuracy described above; its replies to the same request are the same."""

    def __init__(self, item: int) -> None:
        self._calls = set[tuple[str, int, str]]()
        self._item = item

    async def __call__(self, request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        assert isinstance(request, Chat)
        word = step.rpartition(" ")[2]
        text = "".join(message.content for message in request.messages)
        if word not in _WRITING:
            self._calls.add((step, sample, text))
        return Reply(text=self._reply(word, text, _hundred(self._item, step, sample, text)), finish_reason="stop")

    @property
    def calls(self) -> int:
        """Return the calls that a server behind a cache would receive."""
        return len(self._calls)

    def _reply(self, word: str, text: str, drawn: int) -> str:
        correct = is_correct(self._item)
        match word:
            case "reformat":
                return json.dumps(
                    [{"main": {"input": f"{text[-90:-60]}{n}", "expected_output": "1"}} for n in range(5)]
                )
            case "validate":
                return "PASS"
            case "summarise" | "global":
                return "Yes" if correct == (drawn < _RIGHT[word]) else "No"
            case "compare":
                test = text.partition("Input:")[2].partition("\n")[0]
                passes = correct or _hundred(self._item, test) >= _FAILS
                return "MATCH" if passes == (drawn < _RIGHT[word]) else "NOT MATCH"
            case _ if word in _YES:
                return "Yes" if drawn < _YES[word] else "No"
        return f"Thought {drawn}."


def _hundred(*parts: object) -> int:
    return crc32(repr(parts).encode()) % 100


def is_correct(item: int) -> bool:
    """Return whether an item's code is right."""
    return item % 2 == 0


def consequences(items: int) -> list[Consequence]:
    """Return the results of every reading on the same items, in the order of `READINGS`."""
    usual = asyncio.run(_judged({}, items))
    return [_counted(reading, asyncio.run(_judged(options, items)), usual) for reading, options in READINGS.items()]


async def _judged(options: dict[str, str], items: int) -> list[tuple[bool | None, dict[str, Any], int]]:
    judge = LlmJudge(
        base_url="http://localhost:1/v1", model="m", strategy="mcts", fence="off", neutralise="off", beta="1", **options
    )
    found = []
    for item in range(items):
        model = _Model(item)
        row = VerifierInput(item=item, question=f"Problem {item}", reference="r", completion=f"print({item})")
        judged = await judge.judge(row, model, b"")
        is_accepted = {Outcome.CORRECT: True, Outcome.INCORRECT: False}.get(judged.verdict.outcome)
        found.append((is_accepted, judged.trace or {}, model.calls))
    return found


def _counted(
    reading: str,
    found: list[tuple[bool | None, dict[str, Any], int]],
    usual: list[tuple[bool | None, dict[str, Any], int]],
) -> Consequence:
    count = len(found)
    h = [(is_accepted, trace["execution"]["h"]) for is_accepted, trace, _ in found if trace["execution"] is not None]
    return Consequence(
        reading=reading,
        accuracy=sum(is_accepted == is_correct(item) for item, (is_accepted, *_) in enumerate(found)) / count,
        as_h=sum(is_accepted == one for is_accepted, one in h) / len(h) if h else None,
        changed=sum(one[0] != other[0] for one, other in zip(found, usual, strict=True)) / count,
        no_reward=sum(trace["answer"]["no_reward"] for _, trace, _ in found) / count,
        calls=sum(calls for *_, calls in found) / count,
    )


def row(one: Consequence) -> str:
    """Return a line of the table in docs/papers.md."""
    as_h = "–" if one.as_h is None else f"{one.as_h:.3f}"
    name = one.reading if "=" not in one.reading else f"`{one.reading}`"
    return f"| {name} | {one.accuracy:.3f} | {as_h} | {one.changed:.3f} | {one.no_reward:.3f} | {one.calls:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=500)
    for one in consequences(parser.parse_args().items):
        print(row(one), flush=True)


if __name__ == "__main__":
    main()
