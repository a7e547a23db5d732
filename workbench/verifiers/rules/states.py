"""Answers from a closed vocabulary: yes/no, proved/disproved/unknown, entailment/contradiction/neutral …"""

from __future__ import annotations

import re
from functools import lru_cache

from workbench.verifiers.rules.spelling import tidy

Vocabulary = dict[str, str]
"""Every accepted word or phrase, lower case, and the state it stands for."""


def _vocabulary(*states: str) -> Vocabulary:
    """One vocabulary; each state is its own name followed by its synonyms, separated by bars."""
    return {word: state.split("|")[0] for state in states for word in state.split("|")}


_YES = "yes|true|yeah|yep|affirmative|oui|sí|ja|是|是的|对|对的|正确|正确的|not false"
_NO = "no|false|nope|negative|non|nein|untrue|not true|否|不|不是|不对|错误|错误的|错的|错"
_OPEN = (
    "unknown|uncertain|undetermined|undecided|indeterminate|neither|can't be determined|cannot be determined|"
    "can not be determined|can't tell|cannot tell|not known|unsure|maybe|不确定|未知"
)

VOCABULARIES: tuple[Vocabulary, ...] = (
    _vocabulary(_YES, _NO, _OPEN),
    _vocabulary("proved|proven|yes|true", "disproved|disproven|refuted|no|false", _OPEN),
    _vocabulary("valid|yes|deductively valid", "invalid|not valid|no|deductively invalid"),
    _vocabulary(
        "entailment|entails|entailed|entail",
        "contradiction|contradicts|contradicted|contradictory",
        f"neutral|neither|{_OPEN}",
        "non-entailment|not entailment|not-entailment|not entailed|no entailment",
    ),
    _vocabulary("plausible|yes", "implausible|not plausible|no"),
    _vocabulary("sarcastic|yes", "not sarcastic|non-sarcastic|unsarcastic|no"),
    _vocabulary("correct|yes|right", "incorrect|not correct|wrong|no"),
    _vocabulary("possible|yes", "impossible|not possible|no"),
    _vocabulary("convergent|converges|converge|convergence", "divergent|diverges|diverge|divergence"),
    _vocabulary("positive", "negative", "neutral"),
    _vocabulary("always", "sometimes", "never"),
    _vocabulary("increasing|increases", "decreasing|decreases", "constant"),
    _vocabulary("odd", "even", "neither odd nor even|neither even nor odd|neither"),
    _vocabulary("consistent", "inconsistent|not consistent"),
    _vocabulary("satisfiable", "unsatisfiable|not satisfiable"),
    _vocabulary("acceptable", "unacceptable|not acceptable"),
    _vocabulary("before", "after"),
)
"""The vocabularies in the order they are tried."""

_TERMS = _vocabulary(
    "∞|+∞|\\infty|+\\infty|infinity|positive infinity|infinite|inf|unbounded",
    "-∞|-\\infty|negative infinity|minus infinity",
    "∅|\\emptyset|\\varnothing|empty set|the empty set|no solution|no solutions|no real solution|no real solutions|"
    "there is no solution|there are no solutions|none|{}|{ }|\\{\\}|\\{ \\}",
    "undefined|not defined|does not exist|dne|doesn't exist|no limit|the limit does not exist",
    "infinitely many|infinitely many solutions",
    "all real numbers|\\mathbb{r}|\\mathbb r|ℝ|every real number|(-\\infty,\\infty)|(-∞,∞)",
)
"""Values that are written in words as often as in signs."""

_READ = 1_500
_SENTENCE = 160
_NEAR = 3
"""So many words before a state "not" may stand to deny it."""
_OFFER = 300
_ALTERNATIVES = re.compile(
    r"((?:[\w'-]+(?: [\w'-]+)?, ){1,6}(?:or )?[\w'-]+(?: [\w'-]+)?,? or [\w'-]+(?: [\w'-]+)?"
    r"|[\w'-]+ or (?:not )?[\w'-]+)\s*[?.\n]"
)
"""``acute, right or obtuse?``, ``valid or not valid?``: phrases of one word or two at the end of a sentence."""
_YES_OR_NO = re.compile(r"(?:yes|no)\s*[,.;:—–](?!.*\b(?:yes|no|unknown|true|false)\b)")
_DIGIT = re.compile(r"\d")
_PHRASE = re.compile(r"[a-z'-]{2,30}(?: [a-z'-]{2,30}){0,3}")
_OR = re.compile(r",? or |, ")
_NEGATION = re.compile(r"\b(?:not|cannot|never|no longer)\b|n['’]t\b")
_CLAUSE = re.compile(r"[,;.:—–]|\b(?:so|then|hence|therefore|and|but)\b")
_OPPOSITE = re.compile(r"(?:un|in|im|ir|dis|non-?|not )")
_SHELL = re.compile(r"^[\s\"'“”‘’`*_.,:;!]+|[\s\"'“”‘’`*_.,:;!]+$")
_FONT = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|operatorname|boxed)\s*\{([^{}]*)\}")
_OPENING = re.compile(r"(\w[\w' -]{0,40}?)(?:\s*[,.;:!—–]|\s+-\s|\s+because\b|\s+since\b|\n|$)")
_CONCLUDING = re.compile(
    r"^(?:so|thus|hence|therefore|∴|in conclusion|conclusion|answer|finally|overall|consequently"
    r"|(?:that|this|it)(?=\s+(?:is|was)\b)|(?:the|that|this)\s+(?:final\s+|whole\s+)?(?:answer|value|result|verdict|statement|expression|claim|argument|sentence))\b"
    r".{0,120}?\b(?:is|are|was|be|as|:)\s*:?\s*\W{0,4}([\w' -]{2,40})\W*$",
    re.IGNORECASE | re.DOTALL,
)


def vocabulary_of(reference: str, question: str) -> Vocabulary | None:
    """The vocabulary a reference answer belongs to.

    The alternatives the question itself offers ("acute, right or obtuse?") come first; of the known vocabularies the
    one most of whose states the question names.
    """
    word = _word(reference) or ""
    asked = question[-_READ:].lower()
    fitting = [vocabulary for vocabulary in VOCABULARIES if word in vocabulary]
    asked_for = any(_named(vocabulary, word, asked)[0] > 1 for vocabulary in fitting)
    if not asked_for and _PHRASE.fullmatch(word) and " or " in asked and (offered := _offered(asked)):
        alternatives = {state: state for state in offered}
        known = any(all(state in vocabulary for state in offered) for vocabulary in VOCABULARIES)
        if not known and _only_state(word, alternatives) is not None:
            return alternatives
    if not fitting and _YES_OR_NO.match(word):
        return VOCABULARIES[0]
    if not fitting and " " in word:
        named = [vocabulary for vocabulary in VOCABULARIES if _named(vocabulary, "", asked)[0] > 1]
        fitting = [vocabulary for vocabulary in named if _only_state(word, vocabulary) is not None]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    return max(fitting, key=lambda vocabulary: _named(vocabulary, word, asked))


def _offered(question: str) -> list[str]:
    """The last alternatives a question offers, two or more short phrases."""
    found = _ALTERNATIVES.findall(question[-_OFFER:])
    if not found:
        return []
    parts = [part.strip(" '\"“”") for part in _OR.split(found[-1]) if part.strip()]
    # "... and 8 acute, right or obtuse": single words behind the first mean that it is one, too.
    return [parts[0].split()[-1], *parts[1:]] if all(" " not in part for part in parts[1:]) else parts


def _named(vocabulary: Vocabulary, word: str, question: str) -> tuple[int, bool]:
    """How many of a vocabulary's state names the question uses, and whether the word is one of these names."""
    names = _names(tuple(vocabulary.items()))
    return sum(name in question for name in names), word in names


@lru_cache(maxsize=64)
def _names(items: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return frozenset(state for _, state in items)


def state(text: str, vocabulary: Vocabulary) -> str | None:
    """The state an answer is, whole: ``**Yes.**``, ``\\text{not valid}``; None when it is something else.

    "not X" is the other state where there are two, else ``"not X"`` itself, which equals no state.
    """
    word = _word(text) or ""
    found = vocabulary.get(word)
    if found is None and (negated := _OPPOSITE.match(word)):
        found = _negated(vocabulary.get(word[negated.end() :]), vocabulary)
    return found


def _negated(found: str | None, vocabulary: Vocabulary) -> str | None:
    """What denying a state means."""
    if found is None:
        return None
    others = set(vocabulary.values()) - {found, "unknown"}
    return others.pop() if len(others) == 1 else f"not {found}"


def term(text: str) -> str | None:
    """The value without digits that a text is (infinity, no solution …); None for any other."""
    return None if _DIGIT.search(text) else _TERMS.get(_word(text) or "")


def stated(sentence: str, vocabulary: Vocabulary, whole: bool = False) -> str | None:
    """The state a sentence begins with ("No, because …") or concludes with ("Thus, the claim is disproved.").

    Args:
        sentence: One line.
        vocabulary: Where the states come from.
        whole: The sentence is all there is to the answer: the only state it names counts wherever it stands.
    """
    found = state(sentence, vocabulary)
    if found is not None:
        return found
    shown = _plain(sentence[:400])
    if len({state(part, vocabulary) for part in shown.split(",")} - {None}) > 1:
        return None
    if opening := _OPENING.match(shown):
        found = state(opening[1], vocabulary)
    if found is None and (concluding := _CONCLUDING.match(shown)):
        found = state(concluding[1], vocabulary)
    return _only_state(shown.lower(), vocabulary) if found is None and whole else found


def _only_state(sentence: str, vocabulary: Vocabulary) -> str | None:
    """The one state a short sentence names, "not" taken into account."""
    if len(sentence) > _SENTENCE:
        return None
    named = {vocabulary[word]: word for word in sorted(vocabulary, key=len) if _has_word(sentence, word)}
    if len(named) != 1:
        # "not valid" contains "valid": the longest name stands for what it contains.
        longest = max(named.values(), key=len, default="")
        if not longest or any(word not in longest for word in named.values()):
            return None
        named = {vocabulary[longest]: longest}
    [(found, word)] = named.items()
    clause = " ".join(_CLAUSE.split(sentence[: sentence.find(word)])[-1].split()[-_NEAR:])
    return _negated(found, vocabulary) if _NEGATION.search(clause) else found


def _has_word(sentence: str, word: str) -> bool:
    return word in sentence and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence) is not None


def _word(text: str) -> str | None:
    """The answer as a vocabulary would hold it; None when it is too long to be a state."""
    if len(text) > 120:
        return None
    return " ".join(_plain(text).lower().split()) or None


def _plain(text: str) -> str:
    text = text.replace("$", " ").replace("’", "'")
    if "\\" in text:
        text = _FONT.sub(r"\1", text).replace("\\ ", " ")
    return _SHELL.sub("", text)


# -- Yes-or-no questions answered with their own statement: "Does the owl fly?", "The owl does not fly.".


_ASKED = re.compile(
    r"(?:^|[.,;:\\n]\s*|\bwhether\s+|\bif\s+)(?:does|do|did|is|are|was|were|can|could|will|would|has|have)\s+([^?.\n]{3,200})\?",
    re.IGNORECASE,
)
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_NEGATED = re.compile(r"\b(?:not|never|no longer|cannot)\b|n['’]t\b")
_LITTLE = re.compile(
    "number|the|an?|to|of|in|on|at|for|that|its?|there|any|some|going|does|do|did|is|are|was|were|been?|can|could|will|would"
    "|has|have|had|not|never|cannot|so|therefore|thus|hence|t|doesn|don|didn|isn|aren|wasn|weren"
)
_LEAST = 8
_SHORT = 40


def affirmed(question: str, sentence: str, vocabulary: Vocabulary) -> str | None:
    """The state a sentence stands for that affirms or denies just what the question asks; None for any other."""
    found = _ASKED.findall(question[-_READ:])
    if not found or "yes" not in vocabulary or "no" not in vocabulary:
        return None
    asked, said = found[-1].lower(), tidy(sentence[:400]).lower()
    if len(_content(asked)) < _LEAST or _content(asked) != _content(said):
        return None
    affirmed = _is_negated(asked) == _is_negated(said)
    return vocabulary["yes" if affirmed else "no"]


def completes(question: str, sentence: str, answer: str) -> bool:
    """Whether a sentence is the question's own words with a short answer put in: "Who sang?", "Ann sang."."""
    said, wanted = tidy(sentence[:400]).lower(), tidy(answer).lower()
    at = re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", said)
    if at is None or not 1 < len(wanted) <= _SHORT or _is_negated(said):
        return False
    asked = {_stem(word) for word in _PLAIN_WORD.findall(question[-_READ:].lower())}
    rest = _PLAIN_WORD.findall(said[: at.start()] + " " + said[at.end() :])
    return bool(rest) and all(_LITTLE.fullmatch(word) or _stem(word) in asked for word in rest)


def _stem(word: str) -> str:
    return word.removesuffix("ed").rstrip("s").removesuffix("e")


def _content(text: str) -> str:
    """The words that carry the meaning, without their endings and run together: "gad wall" is "gadwall"."""
    return "".join(_stem(word) for word in _PLAIN_WORD.findall(text) if not _LITTLE.fullmatch(word))


def _is_negated(text: str) -> bool:
    return len(_NEGATED.findall(text)) % 2 == 1
