"""What somebody who labels gets to see of an item."""

from __future__ import annotations

from msgspec import Struct

from workbench.core.label import LabelVerdict
from workbench.data.store import reading
from workbench.labelling import guidelines
from workbench.labelling.store.flags import OwnAnswer


class AnnotationItem(Struct, frozen=True, kw_only=True):
    """What the Annotate screen gets: three texts, and the person's own earlier answers.

    Attributes:
        verdict: The person's own current verdict, when the item is opened again.
        reason: Why the person called it unsuitable.
        subtype: The person's own current answer type of the question.
        note: The note of the person's label, or the draft of one.
        tags: Codes of what the person said beside the verdict.
        partial: The partial score the person gave, 0 to 1.
        asks_type: Whether the person holds a type slot on the question.
        types_labelled: Whether the type must be settled by people.
        guideline: The version of the guidelines the person went by when the item was opened.
        asked: What the person wrote with a flag that stands.
        answer: The coordinator's newest answer to a flag of theirs on the item; None: there is none.
    """

    completion: int
    question: int
    dataset: str
    completion_id: str
    question_id: str
    question_text: str
    reference: str
    completion_text: str
    content_hash: bytes
    asks_type: bool
    types_labelled: bool
    verdict: LabelVerdict | None = None
    reason: str | None = None
    subtype: str | None = None
    unsure: bool = False
    note: str = ""
    flagged: bool = False
    tags: tuple[str, ...] = ()
    partial: float | None = None
    guideline: str = guidelines.VERSION
    asked: str = ""
    answer: OwnAnswer | None = None

    @classmethod
    def of(cls, text: reading.ItemText, *, asks_type: bool) -> AnnotationItem:
        """What an item says, without anybody's own answers."""
        return cls(
            completion=text.completion,
            question=text.question,
            dataset=text.dataset,
            completion_id=text.completion_key,
            question_id=text.question_key,
            question_text=text.question_text,
            reference=text.reference,
            completion_text=text.completion_text,
            content_hash=text.content_hash,
            asks_type=asks_type,
            types_labelled=text.types_labelled,
        )

    @property
    def wants_type(self) -> bool:
        """Whether the person must still settle the question's type."""
        return self.types_labelled and self.asks_type and self.subtype is None
