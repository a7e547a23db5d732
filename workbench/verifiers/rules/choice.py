"""Multiple choice: an answer is a set of options, whether named by letter or by text."""

from __future__ import annotations

from workbench.verifiers.rules.options import letters, named_letters
from workbench.verifiers.rules.phrases import VALUE, is_prose, value_in
from workbench.verifiers.rules.shapes import Same
from workbench.verifiers.rules.wording import canonical

_LONGEST_SENTENCE = 300
_TELLING = 12
"""An option's text of so many characters may be looked for within a sentence."""


def choice_of(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """The options an answer without letters chooses: by an option's text, or named in a sentence; else None.

    Args:
        answer: A final answer that does not consist of letters.
        known: The question's options by letter.
        same: Compares an option's text with the answer.
    """
    found = option_of(answer, known, same)
    if found is None and known and len(answer) <= _LONGEST_SENTENCE:
        value = value_in(answer)
        found = named_letters(answer, known) or (letters(value, known) if value else None) or _within(answer, known)
    return found


def option_of(answer: str, known: dict[str, str], same: Same) -> frozenset[str] | None:
    """The one option whose text equals an answer."""
    plain = canonical(answer).casefold()
    found = [letter for letter, text in known.items() if canonical(text).casefold() == plain]
    if not found and VALUE.search(answer) and not is_prose(answer):
        values = ((letter, text) for letter, text in known.items() if VALUE.search(text) and not is_prose(text))
        found = [letter for letter, text in values if same(text, answer)]
    return frozenset(found) if len(found) == 1 else None


def _within(sentence: str, known: dict[str, str]) -> frozenset[str] | None:
    """The options whose texts a sentence contains."""
    plain = canonical(sentence).casefold()
    texts = {letter: canonical(text).casefold().rstrip(".") for letter, text in known.items()}
    found = [letter for letter, text in texts.items() if len(text) >= _TELLING and text in plain]
    return frozenset(found) or None
