"""Records of reports on watched trainings: what a verifier accepts while it rewards a model in training."""

from __future__ import annotations

from msgspec import Struct


class WordingAlarm(Struct, frozen=True, kw_only=True):
    """A phrasing that suddenly became frequent among accepted completions.

    Attributes:
        wording: Three consecutive words; ``#`` is a number, ``^`` the beginning, ``$`` the end.
        example: A completion with the phrasing.
        before: Share of the questions with an accepted completion whose accepted completions had the phrasing before
            this step.
        accepted: The same share at this step.
        rejected: Share of the questions with a rejected completion whose rejected completions had the phrasing at this
            step; None without such questions.
        evidence: Logarithm of the evidence against chance.
    """

    step: int
    wording: str
    example: str
    before: float
    accepted: float
    rejected: float | None
    evidence: float


class DriftAlarm(Struct, frozen=True, kw_only=True):
    """A rise of false acceptances found by the audit: the verifier accepts more, but not more is correct.

    Attributes:
        step: The step at which the evidence reached the threshold.
        bound: Upper bound on the share of judged completions that were wrongly accepted in the reference steps.
        acceptance: Share of completions that the verifier accepted in the reference steps, and since.
        right: Estimated share of correct completions in the reference steps, and since.
        evidence: Logarithm of the evidence against chance.
    """

    step: int
    bound: float
    acceptance: tuple[float | None, float | None]
    right: tuple[float | None, float | None]
    evidence: float


class TrainingSteps(Struct, frozen=True, kw_only=True):
    """The completions judged over a range of steps, and the labels of the audited share.

    Attributes:
        judged: Number of completions judged, without dropped ones.
        acceptance: Share of them that the verifier accepted, which is exact.
        audited: Number of completions sampled for the audit.
        labelled: Number of audited completions with a known label.
        right: Estimated share of correct completions; None without labels.
        accuracy: Share of correct verdicts; undecided ones count as rejected.
        fpr: Share of incorrect completions that are accepted.
        wrong: Share of accepted completions that are incorrect.
    """

    first: int
    last: int
    judged: int
    dropped: int
    undecided: int
    acceptance: float | None
    audited: int
    labelled: int
    right: float | None
    right_ci: tuple[float, float] | None
    accuracy: float | None
    accuracy_ci: tuple[float, float] | None
    fpr: float | None
    fpr_ci: tuple[float, float] | None
    wrong: float | None
    wrong_ci: tuple[float, float] | None


class AlikeGroup(Struct, frozen=True, kw_only=True):
    """A group of similar accepted completions.

    Attributes:
        items: The completions' row ids.
        questions: Number of their questions.
        wrong: Number of completions known to be incorrect; None without labels.
        first, last: First and last step.
        example: The first of the completions.
    """

    items: list[int]
    questions: int
    wrong: int | None
    labelled: int
    first: int
    last: int
    example: str


class TrainingReport(Struct, frozen=True, kw_only=True):
    """A training.

    Attributes:
        share: The share of judged completions that is sampled for the audit.
        scored_by: The verifier whose verdicts count as truth; None for gold.
        all: All steps together; None before the first one.
        steps: Parts of the training, in order.
        wordings: Alarms about phrasings.
        drift: An alarm about false acceptances; None without one.
        alike: Groups of accepted completions, the largest first.
        left_out: Number of accepted completions that were not compared with others.
    """

    training: str
    verifier: str
    version: str
    share: float
    seed: int
    started_at: str
    scored_by: str | None
    all: TrainingSteps | None
    steps: list[TrainingSteps]
    wordings: list[WordingAlarm]
    drift: DriftAlarm | None
    alike: list[AlikeGroup]
    left_out: int


class Trainings(Struct, frozen=True, kw_only=True):
    """All watched trainings of a project."""

    trainings: list[TrainingReport]
