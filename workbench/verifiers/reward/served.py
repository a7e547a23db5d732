"""A reward model on a server: vLLM's score, classify, pooling and rerank."""

from __future__ import annotations

from typing import ClassVar, Final, get_args

from workbench.core.verdict import VerifierInput
from workbench.llm.records import Ask, CallFailed, Reply, Scoring, Task
from workbench.llm.server import Limits, ModelServer
from workbench.verifiers.base import SERVER_AT, Isolation, Judged
from workbench.verifiers.reward.form import FORM_OPTIONS, form_from
from workbench.verifiers.reward.grading import GRADING_OPTIONS, chosen, graded, label_from, threshold_from
from workbench.verifiers.serving import LIMIT_OPTIONS, SERVER_OPTIONS, choice, limits_from, server_from

_DIALECTS: Final[tuple[Task, ...]] = get_args(Task)
_PAIRED: Final = ("score", "rerank")
"""Dialects that take question and completion apart."""

_ACTIVATE: Final = {"server": None, "on": True, "off": False}


class RewardModel:
    """Scores a completion by one call.

    Raw and activated scores have no threshold in common: which of them are asked for is part of the configuration,
    beside the threshold.
    """

    description: ClassVar[str] = "Reward model on a server: a score, and a verdict where a threshold is set"
    options: ClassVar[dict[str, str]] = {
        "dialect": f"how the server is asked: {', '.join(_DIALECTS)} (default score)",
        **SERVER_OPTIONS,
        **FORM_OPTIONS,
        "activation": "whether the server is to apply its activation (softmax, sigmoid): on, off for raw scores, "
        "or server for what it does by itself (default)",
        **GRADING_OPTIONS,
        **LIMIT_OPTIONS,
    }
    preload: ClassVar[tuple[str, ...]] = ()
    name: str = "reward-model"
    version: str = "2"
    isolation: Isolation = "served"

    def __init__(self, **options: str) -> None:
        self._dialect: Task = choice(options, "dialect", _DIALECTS, "score")
        self._server = server_from(options)
        self._limits = limits_from(options)
        self._form = form_from(options, whole=self._dialect not in _PAIRED)
        self._activation = choice(options, "activation", tuple(_ACTIVATE), "server")
        self._label = label_from(options)
        self._threshold = threshold_from(options)

    def config(self) -> dict[str, object]:
        """What a score and a verdict depend on."""
        return {
            "server": self._server.profile,
            "model": self._server.model,
            SERVER_AT: list(self._server.places),
            "dialect": self._dialect,
            **self._form.config(),
            "activation": self._activation,
            "label": self._label,
            "threshold": self._threshold,
        }

    def servers(self) -> dict[str, ModelServer]:
        """The one server."""
        return {"judge": self._server}

    def limits(self) -> Limits:
        """How much it may ask."""
        return self._limits

    def calls_per_item(self) -> float:
        """One."""
        return 1.0

    def request(self, item: VerifierInput) -> Scoring:
        """What is asked about a completion."""
        activate = _ACTIVATE[self._activation]
        text = self._form.fill(item)
        if self._dialect in _PAIRED:
            return Scoring(
                task=self._dialect, query=text, texts=(self._form.alone(item.completion),), activate=activate
            )
        return Scoring(task=self._dialect, texts=(text,), activate=activate)

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """The score of one completion, and the verdict it makes."""
        reply = await ask(self.request(item), step="score")
        try:
            score = chosen(_numbers(reply), self._label, last=self._dialect == "pooling")
        except ValueError as error:
            raise CallFailed("malformed", str(error)) from error
        # Only a server that was asked for raw scores is taken at its word; it doesn't say what it applied.
        known = None if self._activation == "off" else reply.activation
        trace: dict[str, object] = {"activation": known or self._activation}
        if reply.vectors:
            trace["numbers"] = list(reply.vectors[0])
        return Judged(verdict=graded(score, self._threshold), trace=trace)


def _numbers(reply: Reply) -> tuple[float, ...]:
    """The numbers for the one text that was sent.

    Raises:
        ValueError: There are numbers for none, or for several.
    """
    found = reply.vectors or tuple((score,) for score in reply.scores)
    if len(found) != 1:
        raise ValueError(f"the server scored {len(found)} texts instead of 1")
    return found[0]
