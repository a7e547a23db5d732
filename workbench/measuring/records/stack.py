"""Records of reports on stacks, verifiers in sequence. Shares are fractions; undefined metrics are null."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct

from workbench.core.options import Basis, Force, Options, TableForm, option, plot_folder
from workbench.core.verdict import GoldChoice, Protocol3
from workbench.statistics.records.comparison import PairedFigures
from workbench.statistics.records.report import AccuracyRow

Interval = tuple[float, float]
Price = Literal["dollars", "tokens", "seconds", "calls"]
"""The unit of cost; see `workbench.measuring.costs`."""


class StackOptions(Options, frozen=True, kw_only=True):
    stages: Annotated[
        str | None,
        option(
            "Evaluate only this stack: its stages in order, such as rules:correct, qwen:score>=0.9@A/B, gpt",
            metavar="STAGES",
        ),
    ] = None
    verifiers: Annotated[
        tuple[str, ...],
        option("Verifier that may be a stage (repeatable).  [default: all that have run]", "--verifier"),
    ] = ()
    against: Annotated[
        Price | None,
        option("Cost to compare with accuracy.  [default: dollars if all are known, else tokens, else seconds]"),
    ] = None
    under: Annotated[
        float | None, option("Find the most accurate stack that costs less than this per 1,000 items.", gt=0)
    ] = None
    reference: Annotated[
        str | None,
        option("Find the cheapest stack that is not worse than this verifier.", "--not-worse-than", metavar="NAME"),
    ] = None
    margin: Annotated[
        float, option("Tolerated difference in accuracy from that verifier, in percentage points.", ge=0, le=100)
    ] = 1.0
    most_stages: Annotated[int, option("Maximum number of stages in a stack.", ge=1, le=4)] = 3
    folds: Annotated[
        int,
        option("Number of cross-validation folds; all completions of a question are in the same fold.", ge=2, le=1_000),
    ] = 5
    figures: Annotated[Path | None, plot_folder("the plot of accuracy against cost")] = None
    basis: Basis = Basis()
    form: TableForm = TableForm()
    force: Force = False


class Took(Struct, frozen=True, kw_only=True):
    """The average cost of an item's verdict, computed as if no reply had been cached.

    Attributes:
        calls: Number of replies behind the verdict.
        prompt_tokens: Tokens of the prompts; None if a server didn't report them.
        tokens: Tokens written, including reasoning; None if a server didn't report them.
        seconds: Time from request to reply, summed over calls; for stages without a server, their computing time.
        dollars: Price of the calls; None if the price of a call is unknown.
    """

    calls: float
    prompt_tokens: float | None
    tokens: float | None
    seconds: float
    dollars: float | None


class StageRow(Struct, frozen=True, kw_only=True):
    """The results of one stage on the items with gold that reached it.

    Attributes:
        stage: The stage's position, from 1.
        settles: The stage as written in the stack.
        group: An answer type; None for all items.
        reached: Number of items that reached the stage.
        accepted: Number of items that it accepted.
        accepted_wrong: Number of accepted items whose gold is incorrect.
        refused: Number of items that it rejected.
        refused_right: Number of rejected items whose gold is correct.
        left: Number of items deferred to the next stage; for the last stage, of items that it left undecided.
        wrong: Number of incorrect completions that reached it.
        right: Number of correct completions that reached it.
        fpr: Share of the incorrect completions that reached it which it accepted; None without any.
        fpr_ci: Its 95 % interval, clustered by question.
        fnr: Share of the correct completions that reached it which it rejected; None without any.
        fnr_ci: Its 95 % interval, clustered by question.
    """

    stage: int
    settles: str
    group: str | None
    reached: int
    accepted: int
    accepted_wrong: int
    refused: int
    refused_right: int
    left: int
    wrong: int
    right: int
    fpr: float | None
    fpr_ci: Interval | None
    fnr: float | None
    fnr_ci: Interval | None


class StackAlone(Struct, frozen=True, kw_only=True):
    """One verifier of a stack, applied to all items on its own.

    Attributes:
        figures: The verifier's metrics.
        took: The cost of its verdicts.
        against: The stack (A) compared with the verifier (B); None if no item counts for both, or without a stack.
    """

    figures: AccuracyRow
    took: Took
    against: PairedFigures | None


class SimulatedStack(Struct, frozen=True, kw_only=True):
    """A stack simulated on stored verdicts.

    Attributes:
        stages: The stages in the syntax of the kind ``stack``.
        items: Number of items with gold that have a verdict of every stage that they reach.
        lacking: Number of items with gold that lack such a verdict and are left out.
        figures: The metrics of the stack's verdicts.
        took: The cost of the verdicts.
        rows: For each stage one row for all items, then one for each type.
        alone: Each of its verifiers applied on its own to all of the same items.
        against: The stack (A) compared with each of these (B); None if no item counts for both.
    """

    stages: str
    items: int
    lacking: int
    figures: AccuracyRow
    took: Took
    rows: list[StageRow]
    alone: list[StackAlone]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice


class StackChoice(Struct, frozen=True, kw_only=True):
    """The stack chosen by one selection rule, and its results on questions on which it was not chosen.

    Attributes:
        wanted: The rule: ``"best"``, ``"under"`` a price, ``"not_worse"`` than the reference, or a point of the
            ``"front"``: the most accurate stack that costs at most ``cap``.
        cap: Maximum cost of an item; None without a limit.
        stages: The stack chosen on all questions, in the syntax of the kind ``stack``.
        same: Number of folds for which the questions outside the fold lead to the same stack.
        apparent: The stack's accuracy on all items, which has selection bias; None without counted items.
        apparent_took: The stack's average cost of an item, on all items.
        figures: Cross-fitted metrics: each item is judged by the stack chosen without its question.
        took: The cross-fitted cost of an item.
        against_best: The cross-fitted verdicts (A) compared with the best single verifier (B), chosen in the same way;
            None if no
            item counts for both.
        against_reference: The same compared with the reference; None without a reference, or if the stack is the
            reference itself.
        not_worse: Whether the interval of the difference from the reference is above minus the margin; None without a
            reference.
    """

    wanted: Literal["best", "under", "not_worse", "front"]
    cap: float | None
    stages: str
    same: int
    apparent: float | None
    apparent_took: Took
    figures: AccuracyRow
    took: Took
    against_best: PairedFigures | None
    against_reference: PairedFigures | None
    not_worse: bool | None


class StackReport(Struct, frozen=True, kw_only=True):
    """The best stacks of verifiers, chosen on some questions and evaluated on the others.

    Attributes:
        items: Number of items with gold that all verifiers have judged.
        questions: Number of their questions.
        unjudged: Number of items with gold that lack a verifier's verdict and are left out.
        verifiers: Verifiers used in stacks.
        candidates: Number of stacks searched, not counting variants whose stages judge only some answer types.
        against: The unit of ``cap`` and of the front.
        folds: Number of parts of the questions.
        seed: Seed of the folds.
        reference: The verifier for the non-inferiority comparison.
        margin: Its margin, as a fraction.
        alone: Each verifier applied on its own.
        choices: The stack chosen by each requested rule.
        front: The most accurate stack for each cost, from cheap to expensive.
        stages: The results of each stage of the best stack, chosen on all questions; see `StageRow`.
        failed: Verifiers left out because they failed on every item -> number of items.
    """

    items: int
    questions: int
    unjudged: int
    verifiers: list[str]
    candidates: int
    against: Price
    folds: int
    seed: int
    reference: str | None
    margin: float
    alone: list[StackAlone]
    choices: list[StackChoice]
    front: list[StackChoice]
    stages: list[StageRow]
    protocol: Protocol3
    gold: dict[str, int]
    gold_choice: GoldChoice
    failed: dict[str, int] = {}
