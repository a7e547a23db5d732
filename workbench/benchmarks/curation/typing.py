"""Which answer type counts for a question: people's, else its file's, else a model's proposal."""

from __future__ import annotations

from typing import NamedTuple

from workbench.model.curation import PoolQuestion, TypeOrigin


class Typed(NamedTuple):
    """A type or subtype, and who says it."""

    code: str
    origin: TypeOrigin

    @property
    def letter(self) -> str:
        """The type's."""
        return self.code[0]


def type_in_force(question: PoolQuestion, *, confirmed: bool = False) -> Typed | None:
    """A question's type; None where there is none, or people differ.

    Args:
        confirmed: Whether a model's proposal alone is no type.
    """
    if question.disputed:
        return None
    if question.people_type is not None:
        return Typed(question.people_type, "people")
    if question.file_type is not None:
        return Typed(question.file_type, "file")
    return None if confirmed or question.proposed is None else Typed(question.proposed, "model")


def origin(question: PoolQuestion) -> str:
    """Who says a question's type, or why it has none, as a word for counting."""
    typed = type_in_force(question)
    return why_untyped(question) if typed is None else typed.origin


def why_untyped(question: PoolQuestion) -> str:
    """Why a question has no type, as a word for counting."""
    if question.disputed:
        return "disputed"
    if question.outside is not None:
        return f"proposed {question.outside}"
    return "none" if question.proposed is None else "unconfirmed"
