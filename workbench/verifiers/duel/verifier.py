"""The kind ``judge-duel``: it decides which of two judges' reasoning about a completion is better."""

from __future__ import annotations

from typing import ClassVar, Final

from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.statistics.records.probe import DUEL
from workbench.verifiers.base import Judged
from workbench.verifiers.duel.both_orders import DIMENSIONS, BothOrders, preferences, winner
from workbench.verifiers.judges.case import abstention_on
from workbench.verifiers.serving import LIMIT_OPTIONS, SAMPLING_OPTIONS, SERVER_OPTIONS, whole_number

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
