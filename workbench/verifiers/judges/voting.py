"""Self-consistency: several replies to the same requests, and their majority verdict.

Source: Wang et al., "Self-consistency improves chain of thought reasoning in language models", ICLR 2023.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, TypeVar

from msgspec import structs

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask, Deferred, Halt, Reply, Request
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.strategy import Strategy


async def vote(strategy: Strategy, case: JudgeCase, ask: Ask, samples: int, count: Count) -> Judged:
    """Judge an item ``samples`` times in sequence, and count the votes."""
    judged, deferred = [], None
    for number in range(samples):
        try:
            judged.append(await strategy.judge(case, _ask_for_sample(ask, number, samples)))
        except Deferred as error:
            # The other samples' calls can go into the same batch.
            deferred = error
    if deferred is not None:
        raise deferred
    votes = tuple(one.verdict for one in judged)
    traces = [one.trace for one in judged]
    return Judged(verdict=count(votes), votes=votes, trace={"samples": traces} if any(traces) else None)


def majority(votes: Sequence[Verdict]) -> Verdict:
    """Return the majority of the decided votes; abstain on a tie or without decided votes.

    The score is the mean of the votes' scores; votes without scores count 1 for correct and 0 for incorrect.
    """
    parsed = [vote for vote in votes if vote.outcome in (Outcome.CORRECT, Outcome.INCORRECT)]
    correct = sum(vote.outcome is Outcome.CORRECT for vote in parsed)
    incorrect = len(parsed) - correct
    if not parsed:
        reasons = {vote.reason for vote in votes}
        return Verdict(
            outcome=Outcome.ABSTAIN,
            reason=reasons.pop() if len(reasons) == 1 else "unparsed",
            detail=_describe_votes(votes, correct, incorrect),
        )
    scores = [float(vote.is_correct) if vote.score is None else vote.score for vote in parsed]
    tie = correct == incorrect
    return Verdict(
        outcome=Outcome.ABSTAIN if tie else Outcome.CORRECT if correct > incorrect else Outcome.INCORRECT,
        score=sum(scores) / len(scores),
        reason="tie" if tie else None,
        detail=_describe_votes(votes, correct, incorrect),
    )


def unanimous(votes: Sequence[Verdict]) -> Verdict:
    """Return "incorrect" if a vote is, "correct" if all votes are; else abstain, since a vote is undecided.

    VerifyBench (arXiv 2505.15801), section 5.2, keeps completions that are "consistently verified as correct". The
    score is that of `majority`.
    """
    verdict = majority(votes)
    outcomes = {vote.outcome for vote in votes}
    if Outcome.INCORRECT in outcomes:
        return structs.replace(verdict, outcome=Outcome.INCORRECT, reason=None)
    if outcomes == {Outcome.CORRECT} or Outcome.CORRECT not in outcomes:
        return verdict
    silent = {vote.reason for vote in votes if vote.outcome is not Outcome.CORRECT}
    return structs.replace(verdict, outcome=Outcome.ABSTAIN, reason=silent.pop() if len(silent) == 1 else "unparsed")


Count = Callable[[Sequence[Verdict]], Verdict]
VOTES: Final[dict[str, Count]] = {"majority": majority, "unanimous": unanimous}
"""Methods of combining several samples, the default first."""


def _describe_votes(votes: Sequence[Verdict], correct: int, incorrect: int) -> str:
    return f"{correct} of {len(votes)} correct, {incorrect} incorrect, {len(votes) - correct - incorrect} undecided"


def _ask_for_sample(ask: Ask, number: int, samples: int) -> Ask:
    async def ask_sample(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        return await ask(request, step=step, role=role, sample=sample * samples + number)

    return ask_sample


# -- Random draws that depend only on a seed and an item's content.


Thing = TypeVar("Thing")


class Draws:
    """Random draws for one item, independent for each purpose: more draws for one don't change those for another.

    Only ``random()`` is used, the one method whose sequence Python keeps the same between its versions.

    Args:
        seed: The judge's seed.
        texts: The item's content; not its row id, which differs between databases.
    """

    def __init__(self, seed: int, *texts: str) -> None:
        parts = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts)
        self._root = f"{seed}:{hashlib.sha256(b''.join(parts)).hexdigest()}"

    def number(self, *purpose: object) -> float:
        return random.Random(f"{self._root}:{purpose}").random()

    def sample(self, things: Sequence[Thing], count: int, *purpose: object) -> list[Thing]:
        """Draw ``count`` different things, or all if there are fewer, and return them in the order drawn."""
        source = random.Random(f"{self._root}:{purpose}")
        left = list(things)
        return [left.pop(int(source.random() * len(left))) for _ in range(min(count, len(left)))]

    def weighted(self, weights: Sequence[float], *purpose: object) -> int:
        """Draw an index in proportion to its weight; at least one weight is above 0."""
        mark = self.number(*purpose) * sum(weights)
        for place, weight in enumerate(weights):
            mark -= weight
            if mark < 0:
                return place
        return max(place for place, weight in enumerate(weights) if weight > 0)


# -- Several calls at once.


Result = TypeVar("Result")


async def run_concurrently(calls: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Run calls concurrently, started in order for a reproducible list of calls; return their results in order.

    Raises:
        CallFailed: A call failed; the others are cancelled.
        Halt: No call can succeed now; this takes precedence over other failures.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(call) for call in calls]
    except BaseExceptionGroup as failures:
        halts = failures.subgroup(Halt)
        raise (halts or failures).exceptions[0] from None
    return [task.result() for task in tasks]
