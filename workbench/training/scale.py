"""From verdicts to numbers a trainer can use."""

from __future__ import annotations

import math

from msgspec import Struct

from workbench.core.errors import UsageError
from workbench.core.verdict import Outcome, Verdict

_REWARDS = {Outcome.CORRECT: 1.0, Outcome.INCORRECT: 0.0}


class Scale(Struct, frozen=True, kw_only=True):
    """How verdicts count.

    Attributes:
        undecided: The reward of an abstention or an error; None leaves the completion out where a trainer can do that.
        own_score: Give the verifier's own number where it has one.

    Raises:
        UsageError: The number isn't finite.
    """

    undecided: float | None = None
    own_score: bool = False

    def __post_init__(self) -> None:
        if self.undecided is not None and not math.isfinite(self.undecided):
            raise UsageError(f"undecided={self.undecided} is no reward.", "Give a number, or None to leave it out.")

    def reward(self, verdict: Verdict) -> float | None:
        """1.0, 0.0 or what an undecided one gets."""
        if self.own_score and (score := finite(verdict.score)) is not None:
            return score
        return _REWARDS.get(verdict.outcome, self.undecided)

    def number(self, verdict: Verdict) -> float:
        """The same for a trainer that takes nothing but numbers: undecided is 0.0 unless told otherwise."""
        reward = self.reward(verdict)
        return 0.0 if reward is None else reward


def is_undecided(verdict: Verdict) -> bool:
    """Whether it is an abstention or an error."""
    return verdict.outcome not in _REWARDS


def finite(score: float | None) -> float | None:
    """The score, if it is one that JSON can hold."""
    return score if score is not None and math.isfinite(score) else None
