"""The kind ``judge-duel``: it decides which of two judges' reasoning about a completion is better."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Literal, get_args

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.statistics.records.probe import DUEL, Dimension, Winner
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, abstention_on
from workbench.verifiers.judges.parsers.base import last_found, own_lines
from workbench.verifiers.judges.template import Prompt, prompt
from workbench.verifiers.judges.voting import run_concurrently
from workbench.verifiers.serving import (
    LIMIT_OPTIONS,
    SAMPLING_OPTIONS,
    SERVER_OPTIONS,
    OneServer,
    require_sendable,
    sampling_from,
    whole_number,
)

DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)
Place = Literal["first", "second", "tie"]
"""Which of the two texts in a request is preferred."""
_WINS: dict[tuple[Place, Place], Winner] = {("first", "second"): "a", ("second", "first"): "b"}
_PLACES: dict[str, Place] = {"1": "first", "2": "second", "tie": "tie"}
_LINE = {
    dimension: re.compile(
        rf"[\s*_#>-]*{dimension}[ \t*_]*:[ \t*_`]*(?:examination[ \t]+)?(1|2|tie)(?!\w|\.\d)", re.IGNORECASE
    )
    for dimension in DIMENSIONS
}


def preferences(reply: str, fence: str | None = None) -> dict[Dimension, Place | None]:
    """Return the preferred position by dimension, from the last line about it; None without such a line.

    Args:
        reply: The reply as recorded.
        fence: The delimiter around texts in the request: reply text before its last repetition is not the model's own
            statement.
    """
    lines = own_lines(reply, fence)
    return {dimension: last_found(lines, partial(_parse_position, pattern)) for dimension, pattern in _LINE.items()}


def winner(as_first: Place | None, as_second: Place | None) -> Winner | None:
    """Return the winner from the preferences with A first and with A second: a win in both orders, else a tie.

    The result is None if one of the two is missing. Sources: the win rates are those of MCTS-Judge, section 4.4;
    judges are asked in both orders, since order influences them, as in Zheng et al., "Judging LLM-as-a-Judge", NeurIPS
    2023, section 3.4.
    """
    if as_first is None or as_second is None:
        return None
    return _WINS.get((as_first, as_second), "tie")


def _parse_position(pattern: re.Pattern[str], line: str) -> Place | None:
    found = pattern.match(line)
    return _PLACES[found[1].lower()] if found else None


class BothOrders(OneServer):
    """A verifier that asks a model which of two texts is better, once in each order."""

    _prompt: Prompt

    def load_prompt(self, options: Mapping[str, str], file: str, texts: frozenset[str]) -> Prompt:
        """Load a prompt of this package.

        Args:
            options: The verifier's options, with the sampling.
            texts: The placeholders in the prompt.

        Raises:
            ValueError: A sampling option is wrong, or can't be sent to the server.
        """
        found = prompt(Path(__file__).with_name(file), "compare", texts, sampling_from(options))
        require_sendable(self._server, found.call.sampling, options.keys() & SAMPLING_OPTIONS.keys())
        return found

    async def ask_both_orders(
        self, item: int, steps: tuple[str, str], pair: tuple[str, str], ask: Ask, secret: bytes, **texts: str
    ) -> list[DelimitedReply]:
        """Return the replies to the pair in its order, and in the opposite one.

        Args:
            item: The completion's row id.
            steps: The names of the two calls.
            texts: The request's other texts by placeholder.
        """
        return await run_concurrently(
            JudgeCase(item=item, texts={**texts, "first": first, "second": second}, secret=secret, neutralise=True).ask(
                ask, self._prompt.call, step=step
            )
            for step, (first, second) in zip(steps, (pair, pair[::-1]), strict=True)
        )


READING: Final = "duel@1"
"""The version of the parser; it changes when the same reply would be parsed differently."""


class JudgeDuel(BothOrders):
    """Asks a model, in both orders, which of two judges reasoned better about an item.

    The runner replaces the reference by judge A's reasoning, and the completion by judge B's. The verdict is always an
    abstention; its rule is the winner overall, ``a``, ``b`` or ``tie``.
    """

    description: ClassVar[str] = "Comparison of two judges' reasoning by a model, blind, in both orders"
    options: ClassVar[dict[str, str]] = {
        **SERVER_OPTIONS,
        "a": "number of the first judge's run",
        "b": "number of the second judge's run",
        **SAMPLING_OPTIONS,
        **LIMIT_OPTIONS,
    }
    name: str = DUEL
    version: str = "2"
    calls: ClassVar[float] = 2.0

    def __init__(self, **options: str) -> None:
        super().__init__(options)
        self.a, self.b = _run_number(options, "a"), _run_number(options, "b")
        self._prompt = self.load_prompt(options, "prompt.txt", frozenset({"question", "first", "second"}))

    def config(self) -> dict[str, object]:
        return {"a": self.a, "b": self.b, **self._prompt.config(), "parser": READING, **self.server_config()}

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """Compare in both orders; abstain if the reasoning of a judge is missing."""
        a, b = item.reference, item.completion
        if not a or not b:
            return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason="no_reasoning"))
        steps = ("A first", "B first")
        orders = await self.ask_both_orders(item.item, steps, (a, b), ask, secret, question=item.question)
        said = [preferences(heard.reply.text, heard.fence) for heard in orders]
        winners = {dimension: winner(said[0][dimension], said[1][dimension]) for dimension in DIMENSIONS}
        unread = next((heard for heard, one in zip(orders, said, strict=True) if one["overall"] is None), None)
        reason = "duel" if unread is None else abstention_on(unread).reason
        return Judged(
            verdict=Verdict(outcome=Outcome.ABSTAIN, reason=reason, rule=winners["overall"]),
            trace={"judge": "duel", "a": self.a, "b": self.b, "orders": said, "winners": winners},
        )


def _run_number(options: dict[str, str], name: str) -> int:
    number = whole_number(options, name, least=1)
    if number is None:
        raise ValueError(f"{name}: it is missing")
    return number
