"""Self-consistency: several replies to the same requests, and the verdict most of them say.

Source: Wang et al., "Self-consistency improves chain of thought reasoning in language models", ICLR 2023.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.verdict import Outcome, Verdict
from workbench.llm.records import Ask, Reply, Request
from workbench.verifiers.base import Judged
from workbench.verifiers.judges.case import JudgeCase
from workbench.verifiers.judges.strategy import Strategy


async def vote(strategy: Strategy, case: JudgeCase, ask: Ask, samples: int) -> Judged:
    """Judge an item ``samples`` times over, one after the other, and count."""
    judged = [await strategy.judge(case, _sampled(ask, number, samples)) for number in range(samples)]
    votes = tuple(one.verdict for one in judged)
    traces = [one.trace for one in judged]
    return Judged(verdict=majority(votes), votes=votes, trace={"samples": traces} if any(traces) else None)


def majority(votes: Sequence[Verdict]) -> Verdict:
    """What most votes with a verdict say; a tie and a vote without verdicts abstain.

    Its score is the mean of theirs; votes without scores count 1 for correct and 0 for incorrect.
    """
    parsed = [vote for vote in votes if vote.outcome in (Outcome.CORRECT, Outcome.INCORRECT)]
    correct = sum(vote.outcome is Outcome.CORRECT for vote in parsed)
    incorrect = len(parsed) - correct
    if not parsed:
        reasons = {vote.reason for vote in votes}
        return Verdict(
            outcome=Outcome.ABSTAIN,
            reason=reasons.pop() if len(reasons) == 1 else "unparsed",
            detail=_words(votes, correct, incorrect),
        )
    scores = [float(vote.outcome) if vote.score is None else vote.score for vote in parsed]
    tie = correct == incorrect
    return Verdict(
        outcome=Outcome.ABSTAIN if tie else Outcome.CORRECT if correct > incorrect else Outcome.INCORRECT,
        score=sum(scores) / len(scores),
        reason="tie" if tie else None,
        detail=_words(votes, correct, incorrect),
    )


def _words(votes: Sequence[Verdict], correct: int, incorrect: int) -> str:
    return f"{correct} of {len(votes)} correct, {incorrect} incorrect, {len(votes) - correct - incorrect} undecided"


def _sampled(ask: Ask, number: int, samples: int) -> Ask:
    """Asks for the ``number``-th of ``samples`` independent replies, however many the strategy itself tells apart."""

    async def asked(request: Request, *, step: str, role: str = "judge", sample: int = 0) -> Reply:
        return await ask(request, step=step, role=role, sample=sample * samples + number)

    return asked
