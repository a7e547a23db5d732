"""A question's answer type: what people settled, else its file's, else one person's, else a model's proposal."""

from __future__ import annotations

from typing import NamedTuple

from workbench.measuring.records.curation import PoolQuestion, TypeOrigin


class NamedType(NamedTuple):
    """A type or subtype, and who says it."""

    code: str
    origin: TypeOrigin

    @property
    def letter(self) -> str:
        """The type's."""
        return self.code[0]


def type_in_force(question: PoolQuestion, *, confirmed: bool = False) -> NamedType | None:
    """A question's type; None where there is none, or people differ.

    Args:
        confirmed: Whether only what counts everywhere is one: not what one person said alone or a model proposed.
    """
    if question.disputed:
        return None
    if question.people_type is not None:
        return NamedType(question.people_type, "people")
    if question.file_type is not None:
        return NamedType(question.file_type, "file")
    if confirmed:
        return None
    if question.said_alone is not None:
        return NamedType(question.said_alone, "one person")
    return None if question.proposed is None else NamedType(question.proposed, "model")


def origin(question: PoolQuestion) -> str:
    """Who says a question's type, or why it has none, as a word for counting."""
    typed = type_in_force(question)
    return why_untyped(question) if typed is None else typed.origin


def why_untyped(question: PoolQuestion) -> str:
    """Why a question has no type that counts, as a word for counting: who says one, where somebody does."""
    if question.disputed:
        return "disputed"
    if question.said_alone is not None:
        return "one person"
    if question.outside is not None:
        return f"proposed {question.outside}"
    return "none" if question.proposed is None else "model"
