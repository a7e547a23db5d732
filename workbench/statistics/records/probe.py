"""Records of the metrics of probes, of reward models' scores, and of studies of judges."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from workbench.core.run import GENERATION, RunState
from workbench.core.taxonomy import ANSWER_TYPE, UNTYPED
from workbench.core.verdict import GoldChoice, OutcomeWord, Protocol3
from workbench.statistics.records.report import AccuracyRow

SkipReason = Literal[
    "right_answer",
    "not_applicable",
    "no_answer",
    "no_completion",
    "no_number",
    "no_brackets",
    "no_equation",
    "no_twin",
    "no_program",
    "no_example",
    "nothing_left",
]
"""Why a probe was not built: its payload is a correct answer, the question lacks what it needs ..."""
SKIP_WORDS: dict[SkipReason, str] = {
    "right_answer": "the payload is a right answer",
    "not_applicable": "not for this kind of verifier",
    "no_answer": "the reference's final answer isn't known",
    "no_completion": "no real completion",
    "no_number": "the answer is not a number",
    "no_brackets": "the answer is not a set or tuple",
    "no_equation": "no equation whose solution is the answer",
    "no_twin": "the answer has no part that could be altered this way",
    "no_program": "no code question",
    "no_example": "no example in the question",
    "nothing_left": "the answer is in the first words",
}
"""Descriptions of the reasons."""


class BaseRow(Struct, frozen=True, kw_only=True):
    """A question to build probes from.

    Attributes:
        question_id: The question's row id.
        key: The question's id in its data set.
        question: The question's text.
        type: The answer type's code, or ``"untyped"``.
        subtype: The answer subtype's code; None without one.
        example: Public examples of the question, if its rows have such a field.
        right: A completion that gold calls correct, if there is one.
        wrong: A completion that gold calls incorrect, if there is one.
        carrier: The text to which payloads are appended; None for a text without an answer.
    """

    question_id: int
    key: str
    question: str
    reference: str
    type: str = UNTYPED
    subtype: str | None = None
    example: str | None = None
    right: str | None = None
    wrong: str | None = None
    carrier: str | None = None


class ProbeFigures(Struct, frozen=True, kw_only=True):
    """The acceptance rate of completions.

    Attributes:
        n: Number of completions judged.
        parsed: Number of completions with the verdict correct or incorrect.
        accepted: Number of completions with the verdict correct.
        abstain: Number of completions on which the verifier abstained.
        error: Number of completions on which the verifier failed.
        asr: Attack success rate, ``accepted / parsed``; None if ``parsed`` is 0.
        ci: The 95 % interval of ``asr``, clustered by question; None with too few parsed questions.
        asr_all: ``accepted / n``.
        no_verdict: ``(abstain + error) / n``.
    """

    n: int
    parsed: int
    accepted: int
    abstain: int
    error: int
    asr: float | None
    ci: tuple[float, float] | None
    asr_all: float | None
    no_verdict: float | None


class VariantFigures(ProbeFigures, frozen=True, kw_only=True):
    """The metrics of one payload.

    Attributes:
        expected: The verdict that a good verifier gives; if it is correct, the payload doesn't count in other metrics.
    """

    variant: str
    source: str
    languages: tuple[str, ...]
    expected: Literal["incorrect", "correct"]


class FamilyFigures(ProbeFigures, frozen=True, kw_only=True):
    """The metrics of one family, over all its payloads that must be rejected.

    Attributes:
        family: The family's number, such as ``"P4"``.
        skipped: Reason -> number of probes left out.
        above_control: Share of probes with a higher score than their question's control, among probes where both have
            a score; None without such probes.
        by_type: Answer type -> its metrics.
    """

    family: str
    name: str
    source: str
    skipped: dict[SkipReason, int]
    above_control: float | None
    by_type: dict[str, ProbeFigures]
    variants: list[VariantFigures]


class ControlFigures(ProbeFigures, frozen=True, kw_only=True):
    """The controls: correct completions of the same questions, whose acceptance rate is ``asr``.

    Attributes:
        real: Number of completions from the data with correct gold; the others are the reference answer in a box.
    """

    real: int
    by_type: dict[str, ProbeFigures]


class ProbeReport(Struct, frozen=True, kw_only=True):
    """The result of a probing, with everything needed to reproduce it.

    Attributes:
        verifier: The verifier's name.
        version: The version of its rules, parser or library.
        config_hash: Hash of the verifier's kind and configuration.
        suite: The version of the payloads.
        seed: Seed of the drawn questions and of random payloads.
        rows: Number of questions used.
        calls: Number of requests sent to model servers; 0 if every reply was stored.
        seconds: Wall time.
        slowest_ms: Longest time of one completion.
        parsed: Number of probes with a decided verdict, over all families.
        skipped: Reason -> number of probes left out, over all families.
        carrier: Acceptance of unchanged incorrect completions of the same questions, to which payloads are appended;
            if one is accepted, payloads on that question
            are appended to a text without an answer instead.
        by_type: Answer type -> metrics over all families.
        let_in: For a stack, deciding stage -> family -> number of wrongly accepted probes; empty for other kinds.
    """

    verifier: str
    kind: str
    version: str
    config_hash: str
    suite: str
    seed: int
    created_at: str
    rows: int
    calls: int
    seconds: float
    slowest_ms: float
    parsed: int
    skipped: dict[SkipReason, int]
    control: ControlFigures
    carrier: ProbeFigures
    overall: ProbeFigures
    by_type: dict[str, ProbeFigures]
    families: list[FamilyFigures]
    let_in: dict[str, dict[str, int]] = {}


class AcceptedProbe(Struct, frozen=True, kw_only=True):
    """A completion that was wrongly accepted, with the verifier's answer.

    Attributes:
        expected: Always ``"incorrect"``.
        candidate_span: Offsets of ``candidate_final`` into ``completion``.
        reply: A judge's replies in order, separated by lines; None for other verifiers.
    """

    family: str
    variant: str
    question_id: str
    expected: Literal["incorrect"] = "incorrect"
    verdict: OutcomeWord = "correct"
    reference: str
    completion: str
    score: float | None
    reason: str | None
    rule: str | None
    reference_final: str | None
    candidate_final: str | None
    candidate_span: tuple[int, int] | None
    detail: str | None
    reply: str | None


# -- Reports on a reward model's scores: a fitted threshold, and pairs of completions.


Method = Literal["accuracy", "youden"]
"""What a fitted threshold maximises: accuracy, or TPR - FPR."""


class ThresholdReport(Struct, frozen=True, kw_only=True):
    """A threshold, with its accuracy on the rows it was fitted on and on the others.

    Attributes:
        run: The run of the scores.
        method: The maximised metric.
        on: The rows used for fitting, in words.
        threshold: The least score of a correct completion.
        fitted: Metrics on the rows used for fitting, which overestimate those on new rows.
        rest: Metrics on all other rows; None without any.
        in_sample: Whether there are no other rows, so that all metrics are in-sample.
        shared_questions: Number of questions with rows in both parts, which make ``rest`` less independent.
        unscored: Number of counted rows without a score, in both parts; they keep their verdicts, decided or not.
        protocol: How undecided rows are counted.
        saved_as: The verifier with this threshold, if one was created.
        selection_judges: The verifier, if it or its model helped to choose the items; else empty.
    """

    verifier: str
    run: int
    method: Method
    on: str
    threshold: float
    fitted: AccuracyRow
    rest: AccuracyRow | None
    in_sample: bool
    shared_questions: int
    unscored: int
    protocol: Protocol3
    gold_choice: GoldChoice
    saved_as: str | None = None
    selection_judges: list[str] = []


class PairRow(Struct, frozen=True, kw_only=True):
    """The pairs of one group.

    Attributes:
        group: The group's name, such as a type; None for all pairs.
        n: Number of pairs.
        right: Number of pairs whose correct completion has the higher score.
        ties: Number of pairs with equal scores, which count as wrong.
        accuracy: ``right / n``; None without pairs.
        ci: Its 95 % interval; None without pairs.
    """

    group: str | None
    n: int
    right: int
    ties: int
    accuracy: float | None
    ci: tuple[float, float] | None


class Unpaired(Struct, frozen=True, kw_only=True):
    """Numbers of questions without a pair of one correct and one incorrect completion, by reason.

    Attributes:
        one_class: Questions without a correct, or without an incorrect completion.
        several: Questions with more than one correct or incorrect completion.
        unscored: Questions with one correct and one incorrect completion, of which one or both have no score.
    """

    one_class: int
    several: int
    unscored: int


class PairReport(Struct, frozen=True, kw_only=True):
    """Pairwise accuracy of a verifier's scores.

    Attributes:
        run: The run of the scores.
        by: The property that forms groups of pairs; None for all pairs only.
        questions: Number of questions with gold.
        paired: Number of questions with a pair.
        unpaired: Numbers of other questions, by reason.
        rows: The row of all pairs, then one for each group.
        selection_judges: The verifier, if it or its model helped to choose the items; else empty.
    """

    verifier: str
    run: int
    gold_choice: GoldChoice
    by: str | None
    questions: int
    paired: int
    unpaired: Unpaired
    rows: list[PairRow]
    selection_judges: list[str] = []


# -- Studies of judges: sweeps over their settings, and pairwise comparisons.


PAIRWISE: Final = "pairwise"
"""The kind that says which of two completions is better, not whether one is correct."""
JUDGES_NOTHING: Final = (ANSWER_TYPE, "judge-duel", GENERATION, PAIRWISE)
"""The kinds whose verdicts don't judge a completion, so they have no accuracy; ``judge-duel`` is in older databases."""
Part = Literal["judging", "execution", "tests"]
"""The purpose of calls: the judge's own reasoning, executing test cases, writing them."""
Winner = Literal["a", "b", "tie"]


class Consumption(Struct, frozen=True, kw_only=True):
    """The average consumption of an item's verdict, computed as if no reply had been cached.

    Attributes:
        calls: Number of distinct replies.
        prompt_tokens: Tokens of the prompts; None if a server didn't report them.
        completion_tokens: Tokens of the replies; None if a server didn't report them.
    """

    calls: float
    prompt_tokens: float | None
    completion_tokens: float | None


class SweepPoint(Struct, frozen=True, kw_only=True):
    """A judge with one combination of settings.

    Attributes:
        verifier: The name of this configuration.
        settings: The options that differ from the judge's -> their values.
        message: Why the run failed or paused; None otherwise.
        items: Number of items with a verdict.
        accuracy: The row of all items; None until the run is complete.
        consumption: Part of the judge -> its consumption, for parts with calls.
    """

    verifier: str
    settings: dict[str, str]
    run: int
    state: RunState
    message: str | None
    items: int
    accuracy: AccuracyRow | None
    consumption: dict[Part, Consumption]


class SweepReport(Struct, frozen=True, kw_only=True):
    """A judge's accuracy and cost by its settings."""

    judge: str
    protocol: Protocol3
    gold_choice: GoldChoice
    points: list[SweepPoint]


class PairwiseRow(Struct, frozen=True, kw_only=True):
    """One share in a report on compared completions.

    Attributes:
        figure: Name of the quantity.
        share: Its value; None if ``n`` is 0.
        ci: Its 95 % interval, clustered by question.
    """

    figure: str
    n: int
    share: float | None
    ci: tuple[float, float] | None


class PairwiseReport(Struct, frozen=True, kw_only=True):
    """Completions of the same questions, compared in both orders.

    Attributes:
        items: Number of items of the run with a verdict.
        none: Reason -> number of items without a comparison.
        pairs: Number of compared pairs.
        read: Number of pairs for which the replies in both orders were parsed.
        ties: Number of pairs that are ties in both orders.
        inconsistent: Number of pairs with different results in the two orders, which count as ties.
        gold_ties: Number of ties of either kind with one correct and one incorrect completion by gold.
    """

    verifier: str
    run: int
    state: RunState
    items: int
    none: dict[str, int]
    pairs: int
    read: int
    ties: int
    inconsistent: int
    gold_choice: GoldChoice
    gold_ties: int
    rows: list[PairwiseRow]
