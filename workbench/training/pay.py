"""The reward for passed tests."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from workbench.core.verdict import Outcome, Verdict

Pay = Literal["all", "share", "difficulty"]
Forgeable = Literal["pays", "nothing", "undecided"]
Timeouts = Literal["wrong", "undecided"]


class SuiteVerdict(Verdict, frozen=True, kw_only=True):
    """A verdict by tests.

    Attributes:
        passed: Tests that passed, of ``total``.
        total: Tests that count: all but broken ones.
        forgeable: Tests that passed on the sandbox's own word, which a program that knows how could forge.
        late: All tests that it did not pass took too long, or had no time left.
        weighted: Its share of the tests' difficulty: a test weighs the share of solutions that fails it.
        trusted: The same two shares where passes that could be forged are none.
    """

    passed: int = 0
    total: int = 0
    forgeable: int = 0
    late: bool = False
    weighted: float | None = None
    trusted: tuple[float, float] | None = None


class SuitePay(Struct, frozen=True, kw_only=True):
    """The reward for passed tests.

    Attributes:
        pay: 1 for all tests and else 0, the share of tests, or their share by difficulty.
        forgeable: Passes that a program could forge count, count as failures, or leave undecided what rests on them.
        timeouts: What is wrong for nothing but its time is wrong, or undecided.
    """

    pay: Pay = "all"
    forgeable: Forgeable = "pays"
    timeouts: Timeouts = "wrong"

    def reward(self, verdict: SuiteVerdict, undecided: float | None) -> float | None:
        if verdict.outcome not in (Outcome.CORRECT, Outcome.INCORRECT):
            return undecided
        if verdict.late and self.timeouts == "undecided":
            return undecided
        shares = verdict.passed / verdict.total, verdict.weighted
        if verdict.forgeable and self.forgeable != "pays":
            if self.forgeable == "undecided":
                return undecided if verdict.outcome is Outcome.CORRECT or self.pay != "all" else 0.0
            shares = verdict.trusted or (0.0, 0.0)
        share, weighted = shares
        if self.pay == "all":
            return float(share == 1)
        return share if self.pay == "share" else weighted
