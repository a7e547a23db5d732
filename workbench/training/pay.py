"""The reward for passed tests."""

from __future__ import annotations

from typing import Annotated, Literal

from workbench.core.options import Options, option
from workbench.core.verdict import Outcome, Verdict

Pay = Literal["all", "share", "difficulty"]
Forgeable = Literal["pays", "nothing", "undecided"]
Timeouts = Literal["wrong", "undecided"]


class SuiteVerdict(Verdict, frozen=True, kw_only=True):
    """A verdict by tests.

    Attributes:
        passed: Number of tests that passed, of ``total``.
        total: Number of tests, without broken ones.
        forgeable: Number of tests that passed by a report from inside the sandbox, which a malicious program could
            forge.
        late: Whether every failed test exceeded its time limit or was not run because the time was up.
        weighted: Share of passed tests weighted by difficulty: a test's weight is the share of solutions that fail it.
        trusted: The share of passed tests and the weighted share, both without passes that a program could forge.
    """

    passed: int = 0
    total: int = 0
    forgeable: int = 0
    late: bool = False
    weighted: float | None = None
    trusted: tuple[float, float] | None = None


class SuitePay(Options, frozen=True, kw_only=True):
    """The reward for passed tests."""

    pay: Annotated[
        Pay,
        option(
            "How the verifier `execution` computes its reward: all (1 if all tests pass, else 0), share (share of "
            "passed tests) or difficulty (share of passed tests, weighted by difficulty).",
            shows_default=True,
        ),
    ] = "all"
    forgeable: Annotated[
        Forgeable,
        option(
            "How test passes that a program could have forged are rewarded: pays (like other passes), nothing "
            "(like failures) or undecided (like an abstention).",
            shows_default=True,
        ),
    ] = "pays"
    timeouts: Annotated[
        Timeouts,
        option(
            "How a solution whose only failures are timeouts is rewarded: wrong (like a wrong solution) or undecided "
            "(like an abstention).",
            shows_default=True,
        ),
    ] = "wrong"

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
