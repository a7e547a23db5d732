"""Multiple choice: an answer is a set of options, whether named by letter or by text."""

from __future__ import annotations

from collections.abc import Callable

from workbench.verifiers.canonical import canonical_text
from workbench.verifiers.rules.options import letters, named_letters
from workbench.verifiers.rules.phrases import is_prose

Same = Callable[[str, str], bool | None]

_LONGEST_SENTENCE = 300
_TELLING = 12
"""An option's text of so many characters may be looked for within a sentence."""


def same_choice(reference: str, candidate: str, known: dict[str, str], same: Same) -> bool | None:
    """Whether both answers choose the same options.

    Args:
        reference: The reference's final answer: letters, an option's text, or something else.
        candidate: The completion's.
        known: The question's options by letter; may be empty.
        same: Compares an answer's text with an option's.

    Returns:
        None when the reference is no option, or the candidate can't be read as a choice.
    """
    expected = letters(reference, known) or _by_text(reference, known, same)
    if expected is None:
        return None
    given = chosen(candidate, known, same)
    return None if given is None else given == expected


def chosen(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """The options an answer chooses: as letters, as an option's text, or named in a sentence; else None."""
    found = letters(answer, known) or _by_text(answer, known, same)
    if found is None and known and len(answer) <= _LONGEST_SENTENCE:
        found = named_letters(answer, known) or _within(answer, known)
    return found


def _by_text(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """The one option whose text equals the answer."""
    plain = canonical_text(answer).casefold()
    found = [letter for letter, text in known.items() if canonical_text(text).casefold() == plain]
    if not found and not is_prose(answer):
        found = [letter for letter, text in known.items() if not is_prose(text) and same(text, answer)]
    return frozenset(found) if len(found) == 1 else None


def _within(sentence: str, known: dict[str, str]) -> frozenset[str] | None:
    """The options whose texts a sentence contains."""
    plain = canonical_text(sentence).casefold()
    texts = {letter: canonical_text(text).casefold().rstrip(".") for letter, text in known.items()}
    found = [letter for letter, text in texts.items() if len(text) >= _TELLING and text in plain]
    return frozenset(found) or None
