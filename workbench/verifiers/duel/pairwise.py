"""The kind ``pairwise``: which of two completions of a question is better, asked in both orders."""

from __future__ import annotations

import re
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Struct, structs

from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Rival, Verdict, VerifierInput
from workbench.llm.records import Ask
from workbench.llm.server import Limits
from workbench.statistics.records.probe import PAIRWISE, Winner
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import DelimitedReply, JudgeCase, abstention_on
from workbench.verifiers.judges.parsers.base import last_found, own_lines
from workbench.verifiers.judges.template import prompt
from workbench.verifiers.judges.voting import run_concurrently
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.serving import (
    SAMPLING_OPTIONS,
    OneServer,
    SamplingOptions,
    ServerOptions,
    require_sendable,
    sampling_from,
)

READING: Final = "pairwise@1"
"""The version of the parser; it changes when the same reply would be parsed differently."""
_TEXTS: Final = frozenset({"question", "reference", "first", "second"})
Place = Literal["first", "second", "tie"]
"""Which of the two completions in a request is preferred."""
_WINS: dict[tuple[Place, Place], Winner] = {("first", "second"): "a", ("second", "first"): "b"}
_PLACES: dict[str, Place] = {"1": "first", "2": "second", "tie": "tie"}
_LINE: Final = re.compile(
    r"[\s*_#>-]*overall[ \t*_]*:[ \t*_`]*(?:examination[ \t]+)?(1|2|tie)(?!\w|\.\d)", re.IGNORECASE
)
_WORTH: Final[dict[Winner, float]] = {"a": 1.0, "tie": 0.5, "b": 0.0}


def preference(reply: str, fence: str | None = None) -> Place | None:
    """Return the preferred position, from the last line about it; None without such a line.

    Args:
        reply: The reply as recorded.
        fence: The delimiter around texts in the request: reply text before its last repetition is not the model's own
            statement.
    """
    return last_found(own_lines(reply, fence), _parse_position)


def _parse_position(line: str) -> Place | None:
    found = _LINE.match(line)
    return _PLACES[found[1].lower()] if found else None


def winner(as_first: Place | None, as_second: Place | None) -> Winner | None:
    """Return the winner from the preferences with A first and with A second: a win in both orders, else a tie.

    The result is None if one of the two is missing. Models are asked in both orders, since order influences them, as in
    Zheng et al., "Judging LLM-as-a-Judge", NeurIPS 2023, section 3.4.
    """
    if as_first is None or as_second is None:
        return None
    return _WINS.get((as_first, as_second), "tie")


class PairOutcome(Struct, frozen=True, kw_only=True):
    """The result of comparing an item with another completion.

    Attributes:
        rival: The other completion's row id.
        orders: The preferred position with the item first, and with the other first; None if a reply states none.
        winner: "a" for the item, "b" for the other; None if a reply could not be parsed.
    """

    rival: int
    orders: tuple[Place | None, Place | None]
    winner: Winner | None


class OpponentOptions(Options, frozen=True, kw_only=True):
    opponents: Annotated[
        int,
        option("number of other completions to compare each one with, half before and half behind it", ge=2, le=100),
    ] = 2
    reference: Annotated[bool, option("whether the judge sees the reference answer")] = True


class Pairwise(OneServer):
    """Asks a model, in both orders, which of two completions is better; a win counts only in both.

    The verdict is always an abstention. Its score is the item's share of wins, with ties as halves.
    """

    description: ClassVar[str] = "Comparison of two completions by a model, in both orders"
    options: ClassVar[dict[str, str]] = meanings(ServerOptions, OpponentOptions, SamplingOptions, Limits)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(ServerOptions, OpponentOptions)
    name: str = PAIRWISE
    version: str = "1"

    def __init__(self, **options: str) -> None:
        super().__init__(options)
        own = parse_record(OpponentOptions, options)
        self.opponents, self._with_reference = own.opponents, own.reference
        if self.opponents % 2:
            raise ValueError("opponents: must be an even number: half of the rivals come before an item, half after it")
        self._prompt = prompt(Path(__file__).with_name("pairwise.txt"), "compare", _TEXTS, sampling_from(options))
        require_sendable(self._server, self._prompt.call.sampling, options.keys() & SAMPLING_OPTIONS.keys())

    def config(self) -> dict[str, object]:
        return {
            **self._prompt.config(),
            "opponents": self.opponents,
            "reference": self._with_reference,
            "parser": READING,
            **self.server_config(),
        }

    def calls_per_item(self) -> float:
        """Return the number of opponents: each pair takes two calls and is shared by two items."""
        return float(self.opponents)

    async def judge(self, item: VerifierInput, ask: Ask, secret: bytes) -> Judged:
        """Compare the item with each rival; abstain if its question has no other completion."""
        if not item.rivals:
            return Judged(verdict=Verdict(outcome=Outcome.ABSTAIN, reason="no_rival"))
        shown = {"question": item.question, **({"reference": item.reference} if self._with_reference else {})}

        def compare(step: str, first: str, second: str) -> Coroutine[Any, Any, DelimitedReply]:
            texts = {**shown, "first": first, "second": second}
            case = JudgeCase(item=item.item, texts=texts, secret=secret, neutralise=True)
            return case.ask(ask, self._prompt.call, step=step)

        heard = [
            await run_concurrently(
                (
                    compare("item first", item.completion, rival.completion),
                    compare("other first", rival.completion, item.completion),
                )
            )
            for rival in item.rivals
        ]
        found = [_outcome(rival, *orders) for rival, orders in zip(item.rivals, heard, strict=True)]
        unread = next((reply for orders in heard for reply in orders if _preferred_position(reply) is None), None)
        read = [one.winner for one in found if one.winner is not None]
        reason = abstention_on(unread).reason if unread is not None and not read else PAIRWISE
        return Judged(
            verdict=Verdict(
                outcome=Outcome.ABSTAIN,
                reason=reason,
                score=sum(_WORTH[one] for one in read) / len(read) if read else None,
                detail=_describe_results(read, len(found)),
            ),
            trace={"judge": PAIRWISE, "pairs": [structs.asdict(one) for one in found]},
        )


def _preferred_position(heard: DelimitedReply) -> Place | None:
    return preference(heard.reply.text, heard.fence) if heard.ended == "whole" else None


def _outcome(rival: Rival, first: DelimitedReply, second: DelimitedReply) -> PairOutcome:
    orders = (_preferred_position(first), _preferred_position(second))
    return PairOutcome(rival=rival.item, orders=orders, winner=winner(*orders))


def _describe_results(read: Sequence[Winner], pairs: int) -> str:
    won, tied, lost = (read.count(one) for one in ("a", "tie", "b"))
    return f"won {won}, tied {tied}, lost {lost}, unread {pairs - len(read)} of {pairs} pairs"
