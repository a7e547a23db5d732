"""Lines and reports of exports that are made for training."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from workbench.interchange.model_archive import ArchiveWritten


class Message(Struct, frozen=True):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class SftLine(Struct, frozen=True, kw_only=True):
    """One line of ``--format sft``: a conversation to learn from; the other keys say where it is from.

    Attributes:
        messages: The question and the completion, after the system text where there is one.
        model: Empty where it is unknown, as is ``source``: loaders take the type of a column from its first rows.
        verifiers: Those that call the completion correct, where that was asked for.
    """

    messages: tuple[Message, ...]
    dataset: str
    question_id: str
    completion_id: str
    model: str
    source: str
    reference: str
    verifiers: tuple[str, ...]


class PairLine(Struct, frozen=True, kw_only=True):
    """One line of ``--format pairs``: a question with its one correct and its one incorrect completion.

    Attributes:
        chosen_model: Empty where it is unknown, as are ``rejected_model`` and ``source``; see `SftLine`.
    """

    question: str
    reference: str
    chosen: str
    rejected: str
    dataset: str
    question_id: str
    chosen_id: str
    rejected_id: str
    chosen_model: str
    rejected_model: str
    source: str


class SftReport(Struct, frozen=True, kw_only=True):
    """What became of the completions that could have been learnt from.

    Attributes:
        candidates: Items before any condition on a verdict.
        verdicts: Verifier -> verdict (``none``: it has not judged the item) -> how many candidates.
        chosen: Items after all conditions.
        duplicates: Of these, those left out because a completion of the same question has the same text.
        beyond: Those left out because their question has enough.
        seed: What the draw of ``per_question`` went by; None where nothing was drawn.
        questions: How many have a line.
    """

    candidates: int
    verdicts: dict[str, dict[str, int]]
    chosen: int
    duplicates: int
    beyond: int
    per_question: int | None
    seed: int | None
    questions: int


class PairsReport(Struct, frozen=True, kw_only=True):
    """What became of the questions; only ``paired`` are written.

    Attributes:
        one_kind: They have correct completions only, or incorrect ones only.
        several: They have more than one correct or more than one incorrect completion.
        without_gold: None of their completions has a gold label.
    """

    questions: int
    paired: int
    one_kind: int
    several: int
    without_gold: int


class ExportReport(Struct, frozen=True, kw_only=True):
    """What was written; ``workbench export --json``.

    Attributes:
        written: Rows.
        without_gold: Items that have no label of the gold asked for (in conflict, excluded, or nobody's).
    """

    written: int
    file: str
    format: str
    table: str
    without_gold: int = 0
    sft: SftReport | UnsetType = UNSET
    pairs: PairsReport | UnsetType = UNSET
    archive: ArchiveWritten | UnsetType = UNSET
