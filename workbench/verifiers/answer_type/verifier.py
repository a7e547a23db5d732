"""The kind ``answer-type``: it says nothing about a completion, only which type of answer its question asks for."""

from __future__ import annotations

from typing import ClassVar

from workbench.core.suggestion import ANSWER_TYPE
from workbench.core.verdict import Outcome, Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.answer_type.reading import suggestion
from workbench.verifiers.answer_type.request import PROMPT, READING
from workbench.verifiers.base import SERVER_AT, Isolation, Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.outcome import silent
from workbench.verifiers.serving import LIMIT_OPTIONS, SERVER_OPTIONS, limits_from, server_from, switch


class AnswerType:
    """Asks a model for the answer type of a question, from the question and its reference.

    The request is the same for all completions of a question, so that it is made once. The verdict is always an
    abstention: its rule is the subtype's code, or ``proof`` or ``open_ended`` for a question outside the taxonomy.
    """

    description: ClassVar[str] = "Answer type of the question, suggested by a model: for people to confirm"
    options: ClassVar[dict[str, str]] = {
        **SERVER_OPTIONS,
        "fence": "whether texts stand between lines their author can't guess: on (default) or off",
        "neutralise": "whether control tokens in texts are broken: on (default) or off",
        **LIMIT_OPTIONS,
    }
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = ANSWER_TYPE
    version: str = "2"
    isolation: Isolation = "served"

    def __init__(self, **options: str) -> None:
        self._server = server_from(options)
        self._limits = limits_from(options)
        self._fence = switch(options, "fence", True)
        self._neutralise = switch(options, "neutralise", True)

    def config(self) -> dict[str, object]:
        """What a suggestion depends on."""
        return {
            **PROMPT.config(),
            "parser": READING,
            "server": self._server.profile,
            "model": self._server.model,
            SERVER_AT: list(self._server.places),
            "fence": self._fence,
            "neutralise": self._neutralise,
        }

    def servers(self) -> dict[str, ModelServer]:
        """The one server."""
        return {"judge": self._server}

    def limits(self) -> Limits:
        """How much it may ask."""
        return self._limits

    def calls_per_item(self) -> float:
        """One at most: further completions of a question cost none."""
        return 1.0

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """The suggestion for an item's question, as the rule of an abstention."""
        case = JudgeCase(
            item=item.item,
            texts={"question": item.question, "reference": item.reference},
            secret=secret if self._fence else None,
            neutralise=self._neutralise,
        )
        heard = await case.ask(ask, PROMPT.call)
        found = suggestion(heard.reply.text, heard.fence)
        if found is not None:
            return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason="suggested_type", rule=found))
        return Judged(verdict=silent(heard))
