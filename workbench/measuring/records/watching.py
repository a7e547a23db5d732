"""What is observed of a watched training."""

from __future__ import annotations

from msgspec import Struct


class WordingAlarm(Struct, frozen=True, kw_only=True):
    """A phrasing that suddenly became frequent among accepted completions.

    Attributes:
        wording: Three words in a row; ``#`` is a number, ``^`` the beginning, ``$`` the end.
        example: A completion that has it.
        before: Share of questions with an accepted completion that had it before.
        accepted: The same at this step.
        rejected: Share of questions with a rejected completion that had it there; None without any.
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
    """A rise of false acceptances, by the audit: the verifier accepts more without more being right.

    Attributes:
        step: At which the evidence reached the threshold.
        bound: The share of all completions that were accepted wrongly before, at most.
        acceptance: Share of completions that the verifier accepted in the reference steps, and since.
        right: Share of completions that are right there, estimated.
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
        judged: Completions, without those dropped.
        acceptance: Share of them that the verifier accepted; exact.
        audited: Completions that were taken.
        labelled: Of these, how many are known to be right or wrong.
        right: Share of completions that are right, estimated from these; None without any.
        accuracy: Share of verdicts that are right; what is undecided counts as rejected.
        fpr: Share of wrong completions that are accepted.
        wrong: Share of accepted completions that are wrong.
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
    """Similar accepted completions.

    Attributes:
        items: Their row ids.
        questions: How many questions they answer.
        wrong: How many of them are known to be wrong; None where nothing is known of any.
        first, last: Steps.
        example: The first of them.
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
        share: Of what was judged that was to be taken.
        scored_by: Whose verdicts say what is right; None for gold.
        all: Every step together; None before the first.
        steps: Parts of the training, in order.
        wordings: Alarms about wordings.
        drift: An alarm about what is accepted wrongly; None without one.
        alike: Groups of accepted completions, the largest first.
        left_out: Accepted completions that were not compared.
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
