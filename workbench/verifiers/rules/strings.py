"""Answers that are words: the same name, term, phrase or sequence of words except for their form."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from workbench.verifiers.rules.numbers import ORDINALS
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.records import Doubt
from workbench.verifiers.rules.sense import has_denial, word_count, words
from workbench.verifiers.rules.spelling import LETTERS, tidy, unquoted
from workbench.verifiers.text import canonical_text

if TYPE_CHECKING:
    from workbench.verifiers.rules.question import TypedQuestion

_DATA = Lexicon("strings")
_ACCENT = re.compile(r"\\(?:([\"'`^~=.])\s*(?:\{\s*\\?([A-Za-z])\s*\}|([A-Za-z]))|([uvHcrk])\s*\{\s*([A-Za-z])\s*\})")
_COMBINING = {
    "\"": "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "r": "\u030a", "k": "\u0328",
}  # fmt: skip
_ESCAPED = re.compile(r"\\([#$%&_{}])")
_TYPED = re.compile(r"\\(?:texttt|verb|mathtt|mathcal|underline|emph|textsf|textsc)\s*(?:\{([^{}]*)\}|\|([^|]*)\|)")
_MARKS = 4
_NEGATED = re.compile(r"(?<![\w)}\]\\.,;:])\s*~(?=\s?[A-Za-z(])")
"""A tilde that negates a letter or formula; between words it is a blank."""
_LITERALS = re.compile(r"[\s({\[\\$]*~?[A-Za-z](?:\s?,\s?~?\s?[A-Za-z])+[\s)}\]\\$]*")
_INDEX = re.compile(r"(?<!\d)_(?:\{(\w{1,4})\}|(\w{1,4}))")
_ARTICLE = re.compile(r"\A(?:the|an?)\s(?=[^\W\d_]{4})", re.IGNORECASE)
_DASHES = str.maketrans("–—−‐‑", "-----")
_NO_DIGITS = re.compile(r"\D+")
_UMLAUTS = str.maketrans({"ö": "oe", "ü": "ue", "ä": "ae", "ø": "oe", "å": "aa"})
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ı": "i"})
_MARKUP = "\\_"
_ARROW = re.compile(r"→|⇒|[-=]>|\\(?:to|Rightarrow|rightarrow)(?![A-Za-z])")
_EXPLAINS = re.compile(r"[\s*_\"'”’`]{0,5}(?:[–—:;]|\.\s|\s-\s)")
# One colon or equals sign follows a label, and a comma a capitalised gloss: "Capital: Paris", "Paris, France".
_SEPARATORS = (
    (re.compile(r"\s*[:：=]+\s*"), 3, 2),
    (re.compile(r",(?!\s*(?:[A-Z]|the\b|an?\b))"), 2, 1),
    (re.compile(r"\s*[;|]+\s*|\s+[-–—/]\s+"), 2, 2),
)
_HAN_CLAUSE = re.compile("[\u4e00-\u9fff]{5}")
_HAN_NAME = re.compile("[\u4e00-\u9fff·]+")
_HAN_IS = re.compile("[是为叫](?:[^,，。;；]{0,6}[人家者手员师的：“])?\\Z")
"""Text before a name in a Chinese sentence: "is", "is the poet"."""
_QUOTED, _BRACKET = re.compile("'([^']*)'"), re.compile(r"[\[({,]")
_UNSEEN = re.compile(r"[\s'\"`“”‘’]+")
_TOKEN = re.compile(r"[^\W_]+")
_STATES = frozenset({"yes", "no", "true", "false", "am", "pm"})
_CONTAINED, _SENTENCE, _SHORT, _NEAR = 60, 400, 40, 40
_FEW, _SHORT_SYMBOL = 3, 4


def same_text(reference: str, candidate: str) -> str | None:
    if reference == candidate:
        return "text.exact"
    if reference.isalnum() and candidate.isalnum():
        alike = len(reference) > 2 and reference.isalpha() and reference.casefold() == candidate.casefold()
        return "text.canonical" if alike else None
    # Typesetting changes no digit, and digits are compared much faster.
    if _NO_DIGITS.sub("", reference) != _NO_DIGITS.sub("", candidate):
        return None
    if canonical(reference) != canonical(candidate):
        return None
    if "~" in reference + candidate and _count_negations(reference) != _count_negations(candidate):
        return None
    # "12, 345" is a list, 12,345 a number.
    same = (", " in reference) == (", " in candidate) or not re.search(r"\d,\s*\d", f"{reference} {candidate}")
    return "text.canonical" if same else None


def may_differ_by_negation(reference: str, candidate: str) -> bool:
    """Return whether only one of two lists of letters has a tilde after a comma, which may negate a letter or be a
    blank."""
    if reference.count("~") == candidate.count("~") or not any(",~" in text for text in (reference, candidate)):
        return False
    return all(map(_LITERALS.fullmatch, (reference, candidate)))


def _count_negations(text: str) -> int:
    return len(_NEGATED.findall(text))


def same_wording(reference: str, candidate: str) -> bool:
    """Return whether two strings are the same except for quotation marks, TeX's signs and, in words, upper case."""
    if reference.endswith("...") != candidate.endswith("..."):
        return False
    ours, theirs = (_ARTICLE.sub("", spelled(text)) for text in (reference, candidate))
    if ours == theirs:
        return bool(ours)
    if "\\" in ours or any(sign in ours for sign in "^=+") or LETTERS.search(ours) is None:
        return False
    return ours.casefold() == theirs.casefold() or (
        ours.isascii() != theirs.isascii() and bool(folded(ours).intersection(folded(theirs)))
    )


@lru_cache(maxsize=512)
def folded(text: str) -> frozenset[str]:
    """Return the ASCII spellings of a name with diacritics: Godel and Goedel for Gödel."""
    text = text.casefold()
    umlauts = text.translate(_UMLAUTS)
    spellings = (unicodedata.normalize("NFKD", one) for one in (text, umlauts))
    bare = {"".join(sign for sign in one if not unicodedata.combining(sign)).translate(_LIGATURES) for one in spellings}
    return frozenset(one for one in bare if one.isascii())


@lru_cache(maxsize=1024)
def spelled(text: str) -> str:
    """Return the visible characters of an answer: accents, escapes and indices resolved, quotation marks removed."""
    text = tidy(text)
    if any(sign in text for sign in _MARKUP):
        text = _ACCENT.sub(lambda found: (found[2] or found[3] or found[5]) + _COMBINING[found[1] or found[4]], text)
        text = _TYPED.sub(lambda found: found[1] or found[2] or "", text)
        text = _ESCAPED.sub(r"\1", text)
        text = _INDEX.sub(r"\1\2", text)
    shown = unicodedata.normalize("NFC", " ".join(text.split())).translate(_DASHES)
    bare = unquoted(shown)
    # .72 is not 72.
    return f".{bare}" if bare[:1].isdigit() and f".{bare}" in shown[: len(bare) + _MARKS] else bare


canonical = lru_cache(maxsize=512)(canonical_text)


# -- A sentence that gives a name, and what turns it into another name.


def leads_sentence(sentence: str, answer: str) -> bool:
    """Return whether a sentence begins with an answer and explains it after a dash, colon or full stop."""
    rest = sentence.casefold().removeprefix(answer.casefold())
    return len(answer) > 1 and len(rest) < len(sentence) and _EXPLAINS.match(rest) is not None


def enumerates(text: str) -> bool:
    """Return whether a text is only short names side by side, any of which may be meant: "red : orange : green"."""
    if _HAN_CLAUSE.search(text):
        return False
    for separator, fewest_members, most_words in _SEPARATORS:
        members = separator.split(text.strip(" .$*"))
        if len(members) >= fewest_members and all(1 <= word_count(member) <= most_words for member in members):
            return True
    return False


def contains(sentence: str, answer: str) -> bool:
    """Return whether a sentence gives a short answer as a separate clause: "... is ANSWER, because".

    The answer must not be retracted, one of several, or part of a longer name: "North ANSWER", "ANSWER-in-law".
    """
    if len(answer) > _CONTAINED or len(answer) < 2 or len(sentence) > _SENTENCE:
        return False
    if _HAN_NAME.fullmatch(answer):
        said = sentence.rstrip(" 。.！!”")
        return (
            said.endswith(answer) and _HAN_IS.search(said.removesuffix(answer)) is not None and not has_denial(sentence)
        )
    sentence = _ARROW.split(sentence)[-1]
    said, wanted = canonical_text(sentence).casefold(), canonical_text(answer).casefold()
    wanted = wanted if wanted in said else singular(wanted)
    at = said.rfind(wanted)
    if (
        enumerates(sentence)
        or at < 0
        or _count_negations(sentence) != _count_negations(answer)
        or _DATA.blocking.search(said.replace(wanted, " "))
        or said.count(",") > wanted.count(",") + 1
    ):
        return False
    return _DATA.begins.search(said[:at]) is not None and _DATA.ends.match(said[at + len(wanted) :]) is not None


def contains_any(sentence: str, answers: list[str]) -> bool:
    if not 1 < word_count(sentence) <= _SHORT:
        return False
    said = spelled(sentence).casefold()
    return any(
        (wanted := spelled(text).casefold()) and re.search(rf"(?<![\w.]){re.escape(wanted)}(?![\w.]\w)", said)
        for text in answers
    )


def same_print(reference: str, candidate: str) -> bool:
    """Return whether two texts show the same signs, without blanks and quotation marks."""
    ours, theirs = (_UNSEEN.sub("", spelled(text)) for text in (reference, candidate))
    return ours == theirs


def other_case(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Return whether two texts differ in upper and lower case where that distinguishes symbols: CO and Co, MW and
    mW."""
    if reference == answer:
        return False
    ours, theirs = spelled(reference), spelled(answer)
    of_case = question.of_case or question.of_code
    if of_case and ours != theirs and ours not in theirs and ours.casefold() in theirs.casefold():
        return ours.casefold() not in _STATES or question.of_output
    is_name = not (ours.isalpha() and ours.islower() and theirs.isalpha())
    if (question.of_words or not is_name) and ours.casefold() != theirs.casefold() and folded(ours) & folded(theirs):
        return True
    if (question.of_code or question.of_output) and has_other_strings(reference, answer, question):
        return True
    if ours == theirs or len(ours) > 2 * _SHORT or ours.casefold() not in theirs.casefold() or len(words(ours)) >= _FEW:
        return False
    asked = question.symbols
    given = set(_TOKEN.findall(theirs))
    alike = {token.casefold(): token for token in given}
    return any(
        _is_symbol(token, alike[token.casefold()], asked)
        for token in _TOKEN.findall(ours)
        if token not in given and token.casefold() in alike
    )


def has_other_strings(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Return whether two outputs of a program differ in the quotation marks or blanks of their strings.

    The marks around a whole output count only if both have them, or the question asks how a string is shown.
    """
    ours, theirs = (tidy(text).strip("`").replace('"', "'") for text in (reference, answer))
    quoted = [text[:1] == text[-1:] == "'" for text in (ours, theirs)]
    if not question.of_quotes and quoted[0] != quoted[1]:
        ours, theirs = ours.strip("'"), theirs.strip("'")
    if ours in theirs:
        return False
    if "'" in ours:
        return _QUOTED.findall(ours) != _QUOTED.findall(theirs)
    apart = _QUOTED.search(question.text) and not _BRACKET.search(ours) and len(ours.split()) != len(theirs.split())
    return bool(apart) and "".join(ours.split()) == "".join(theirs.split())


def _is_symbol(one: str, other: str, asked: bool) -> bool:
    if one.casefold() in _STATES:
        return asked
    inner = any(side[1:] != side[1:].lower() and not side.isupper() for side in (one, other))
    return len(one) <= _FEW - (not asked) or inner or (asked and len(one) <= _SHORT_SYMBOL)


def extends_name(reference: str, answer: str, question: TypedQuestion) -> bool:
    """Return whether an answer extends the reference's text to another name: "Paris, Texas", "Ann's brother"."""
    ours, theirs = spelled(reference), spelled(answer)
    at = theirs.casefold().rfind(ours.casefold())
    if at < 0 or not ours:
        return False
    before, behind = theirs[:at], theirs[at + len(ours) :]
    found = _DATA.goes_on.match(behind)
    if found is not None:
        name = found["name"]
        return name is None or name.casefold() not in question.text.casefold()
    return has_denial(behind.split(".")[0][:_NEAR], words(reference)) or has_denial(before[-_NEAR:], words(reference))


# -- Terms, nouns and lists of words that are the same except for their form: "cosine rule" and "law of cosines".


_TERMS = Lexicon("terms")
_APART = _TERMS.words("apart")
_PLURALS: dict[str, str] = _TERMS.table("plurals")
_WORD_SEPARATORS = re.compile(r"(?:[\s,;、，\[\]\"“”]|(?<!\w)'|'(?!\w))+")
_LISTS = re.compile(r"[,;、]|(?:^|\s)[b-z](?:\s|$)", re.IGNORECASE)
"""A feature of a list, in which an "a" may be a letter."""
_ARTICLES = ("a", "an", "the")
_SPACED = re.compile(r"[\s,;-]+")
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_GENERIC: dict[str, str] = _TERMS.table("generic")
"""Generic nouns of terms that may replace each other -> one of them."""
_COMPASS = {"n": "north", "e": "east", "s": "south", "w": "west"}
_COMPASS |= {a + b: _COMPASS[a] + _COMPASS[b] for a in "ns" for b in "ew"}
_STRAND = re.compile(r"(?:([53])['′’]?[\s-]*)?([ACGTUN][ACGTUN\s-]{2,}?)(?:[\s-]*([53])['′’]?)?")
_CLAUSE_END = re.compile(r"[.:!?«»“”\"()\n]")
_LEAST_COMPOUND, _LONGEST_SENTENCE = 3, 400
_MAX_CHARACTERS = 200
"""Maximum characters of a term."""
_LEAST_CONTEXT = 2


def same_words_of(reference: str, candidate: str, question: TypedQuestion) -> str | None:
    if same_wording(reference, candidate):
        return "text.wording"
    if (question.type == "D" or question.ordered) and _same_letters(reference, candidate):
        return "text.words"
    if question.type not in (None, "D"):
        return None
    if _same_sequence(reference, candidate) or _fills_gap(reference, candidate, question):
        return "text.words"
    if question.asks_who and same_person(reference, candidate):
        return "text.words"
    if question.subtype == "D2":
        alike = _WORD.findall(spelled(reference).casefold()) == _WORD.findall(spelled(candidate).casefold())
        if alike and ("?" in reference) == ("?" in candidate):
            return "text.words"
        return "text.noun" if _same_noun(reference, candidate) else None
    if question.strands and (ours := _parse_strand(reference)) is not None and ours == _parse_strand(candidate):
        return "text.words"
    one, other = spelled(reference).casefold(), spelled(candidate).casefold()
    same = one == _PLURALS.get(other) or other == _PLURALS.get(one) or _same_term(reference, candidate, question)
    return "text.noun" if same and not question.of_words else None


def _same_noun(reference: str, candidate: str) -> bool:
    ours, theirs = (spelled(text).casefold() for text in (reference, candidate))
    return ours.isalpha() and theirs.isalpha() and len(ours) > 2 and singular(ours) == singular(theirs)


def singular(noun: str) -> str:
    if noun in _PLURALS:
        return _PLURALS[noun]
    for ending, replaced in (("ves", "f"), ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if noun.endswith(ending):
            return noun.removesuffix(ending) + replaced
    return noun.removesuffix("s") if not noun.endswith("ss") else noun


def _same_term(reference: str, candidate: str, question: TypedQuestion) -> bool:
    if max(len(reference), len(candidate)) > _MAX_CHARACTERS:
        return False
    ours, theirs = _words_of_term(reference, question), _words_of_term(candidate, question)
    if not ours or not theirs or spelled(reference).casefold() == spelled(candidate).casefold():
        return False
    if ours == theirs:
        return True
    closed, apart = sorted((ours, theirs), key=len)
    compound = len(closed) == 1 and len(apart) == 2 and min(map(len, apart)) >= _LEAST_COMPOUND
    if compound and closed[0] == "".join(apart) and apart[0] in _APART:
        raise Doubt("alike")
    return compound and closed[0] == "".join(apart)


def _words_of_term(text: str, question: TypedQuestion) -> list[str]:
    shown = spelled(text).casefold().removeprefix("the ")
    if (inverted := _TERMS.of.fullmatch(shown)) is not None and inverted[1] in _GENERIC:
        words = inverted[2].split()
        # A name has no plural: the Treaty of Versailles, the law of cosines.
        last = singular(words[-1]) if _GENERIC[inverted[1]] in ("law", "method") else words[-1]
        shown = " ".join([*words[:-1], last, inverted[1]])
    words = [_numbered(word) for word in _SPACED.split(shown)]
    if not shown.replace(" ", "").replace("-", "").replace("'", "").isalnum():
        return []
    if len(words) > 1 and singular(words[-1]) in question.nouns:
        return words[:-1]
    if question.directions:
        words = [_COMPASS.get(word, word) for word in words if word != "due"]
    kind = _GENERIC.get(words[-1], "") if words else ""
    if len(words) < 2 or not kind:
        return words
    return words[:-1] if any(_GENERIC.get(noun) == kind for noun in question.nouns) else [*words[:-1], kind]


def _numbered(word: str) -> str:
    """Return a place in an order as a number: "4." for "4th" and "fourth"; another word is returned unchanged."""
    if word in ORDINALS:
        return f"{ORDINALS[word]}."
    return _TERMS.place.sub(r"\1.", word) if word[:1].isdigit() else word


def _same_letters(reference: str, candidate: str) -> bool:
    ours, theirs = (_SPACED.split(spelled(text)) for text in (reference, candidate))
    spelt = all(len(sign) == 1 for sign in max(ours, theirs, key=len))
    return len(ours) != len(theirs) and spelt and 1 in (len(ours), len(theirs)) and "".join(ours) == "".join(theirs)


def _same_sequence(reference: str, candidate: str) -> bool:
    ours, theirs = (
        [word for word in _WORD_SEPARATORS.split(spelled(text).casefold()) if word] for text in (reference, candidate)
    )
    if len(ours) != len(theirs) and not _LISTS.search(reference + candidate):
        ours, theirs = ([word for word in words if word not in _ARTICLES] for words in (ours, theirs))
    return len(ours) > 1 and ours == theirs


def _parse_strand(text: str) -> tuple[bool, str] | None:
    """Parse a strand of nucleotides, and whether it is written from its 3' end."""
    found = _STRAND.fullmatch(tidy(text))
    if found is None or (found[1] or "") == (found[3] or "-"):
        return None
    return found[1] == "3" or found[3] == "5", "".join(sign for sign in found[2] if sign.isalpha())


def _fills_gap(answer: str, sentence: str, question: TypedQuestion) -> bool:
    gap = question.gap
    if gap is None or len(sentence) > _LONGEST_SENTENCE:
        return False
    before, behind, filled, said = (
        _WORD.findall(text.casefold())
        for text in (
            _CLAUSE_END.split(gap[0])[-1],
            _CLAUSE_END.split(gap[1])[0],
            spelled(answer),
            spelled(sentence),
        )
    )
    wanted = [*before, *filled, *behind]
    return len(before) + len(behind) >= _LEAST_CONTEXT and bool(filled) and said[-len(wanted) :] == wanted


# -- Persons: a family name for a full name, and sentences that tell who.


_PERSONS = Lexicon("persons")
_TITLES = _PERSONS.words("titles")
_NAME_ENDS = re.compile(r"[\s.\-]+")
_FAMILY_FIRST = re.compile(r"([^\W\d_][\w'’-]+),\s+([^\W\d_][\w.'’ -]*)")
_ONE_NAME = r"[^\W\d_a-zß-ÿ](?:[^\W\d_]|['’-])*\.?"
_NAME = re.compile(rf"{_ONE_NAME}(?:\s+(?:(?:de|da|di|der|van|von|del|la)\s+)*{_ONE_NAME})*")
_SENTENCE_END = re.compile(r"(?<=[^\W_]{3})[.!?]\s+(?=[A-ZÀ-Þ])")
_NAMESAKES = frozenset({("john", "adams"), ("george", "bush"), ("johann", "bach"), ("johann", "strauss")})
"""Given and family names of several famous persons, who are distinguished only by their middle names."""
_MOST_NAMES, _LONGEST = 6, 400


def same_person(reference: str, candidate: str) -> bool:
    """Return whether two names may be one person's: family name only, initials, a title, an additional middle name.

    A missing middle name or an additional initial may mean another person.
    """
    ours, theirs = _names_of(reference), _names_of(candidate)
    ours, theirs = _split_initials(ours, theirs), _split_initials(theirs, ours)
    # George V is not George VI, whose number would pass for an initial.
    if len(ours) < 2 or not theirs or not folded(ours[-1]) & folded(theirs[-1]):
        return False
    if len(theirs) == 1:
        return len(theirs[0]) > 2
    if len(theirs) > len(ours) and min(map(len, (*ours, *theirs))) > 1:
        middle = theirs[1:-1]
        known = (ours[0].casefold(), ours[-1].casefold()) in _NAMESAKES
        theirs = [theirs[0], *(name for name in middle if name in ours), theirs[-1]] if not known else theirs
    return len(ours) == len(theirs) and all(_same_name(one, other) for one, other in zip(ours, theirs, strict=True))


def _same_name(one: str, other: str) -> bool:
    if len(one) == 1 or len(other) == 1:
        return bool({name[:1] for name in folded(one)} & {name[:1] for name in folded(other)})
    return bool(folded(one) & folded(other))


def _names_of(text: str) -> list[str]:
    text = _FAMILY_FIRST.sub(r"\2 \1", spelled(text))
    names = [name for name in _NAME_ENDS.split(text) if name and name.casefold() not in _TITLES]
    capital = all(name[:1].isupper() and name.replace("'", "").isalpha() for name in names)
    return names if capital and len(names) <= _MOST_NAMES else []


def _split_initials(names: list[str], others: list[str]) -> list[str]:
    initials = sum(len(name) == 1 for name in others)
    together = len(names) > 1 and 1 < len(names[0]) == initials and names[0].isupper()
    return [*names[0], *names[1:]] if together else names


def tells_person(sentence: str, person: str) -> bool:
    """Return whether a sentence identifies a person as the answer: "It was painted by PERSON in 1937."."""
    said = _SENTENCE_END.split(spelled(sentence))[-1]
    if len(said) > _LONGEST or _PERSONS.open.search(said):
        return False
    told = [run[0] for run in _NAME.finditer(said) if _PERSONS.tells.search(said[: run.start()])]
    return len(told) == 1 and same_person(person, told[0].rstrip("."))
