"""Finds near-duplicate questions by their texts, and excludes them.

Two questions are compared only where their numbers, operators and variables are the same (`tokens.signature`), and are
duplicates only if `may_say_the_same` allows it. Of several duplicates, the question with the most properties
(completions, a type, a source, …) is kept; ties are broken by data set and id.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from math import ceil
from sys import intern
from typing import Final, NamedTuple

from msgspec import UNSET

from workbench.benchmarks.curating.pool import decide, inside, pool
from workbench.core.final_answer import reference_answer
from workbench.core.options import grouped
from workbench.core.project import Project, batches
from workbench.core.selection import NAMELESS
from workbench.data.alike import Duplicate
from workbench.measuring.records.curation import (
    DUPLICATE,
    DuplicatePair,
    DuplicatesReport,
    PoolChange,
    PoolQuestion,
    Scope,
)
from workbench.measuring.store import curation

# -- A question's text as tokens, which are independent of spelling but keep the meaning.


_SUPERSCRIPT: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻]+")
_SPELLINGS: Final = str.maketrans(
    {
        "×": "*", "⋅": "*", "·": "*", "∙": "*", "∗": "*", "÷": "/", "⁄": "/", "∕": "/", "−": "-", "‐": "-", "‑": "-",
        "≤": "<=", "⩽": "<=", "≥": ">=", "⩾": ">=", "≠": "!=", "√": " sqrt ", "π": " pi ", "∞": " infty ",
        "—": " ", "’": "'",
    }
)  # fmt: skip
_LAYOUT: Final = (
    "left right big Big bigg Bigg bigl bigr displaystyle textstyle quad qquad text textbf textit textrm mathrm mathbf "
    "mathit mathsf operatorname boxed limits nolimits"
)
_COMMANDS: Final = {
    **dict.fromkeys(("le", "leq", "leqslant"), "<="),
    **dict.fromkeys(("ge", "geq", "geqslant"), ">="),
    **dict.fromkeys(("ne", "neq"), "!="),
    **dict.fromkeys(("times", "cdot", "ast"), "*"),
    **dict.fromkeys(("dfrac", "tfrac", "cfrac"), "frac"),
    **dict.fromkeys(("mid", "vert", "lvert", "rvert"), "|"),
    **dict.fromkeys(_LAYOUT.split(), " "),
    "lt": "<",
    "gt": ">",
    "div": "/",
}
r"""LaTeX commands that have another spelling, or that don't change the question."""
_DELIMITER: Final = re.compile(r"\\[()\[\],;:!\\\s{}$]|[${}]")
_COMMAND: Final = re.compile(r"\\([A-Za-z]+)")
_POWER: Final = re.compile(r"(?<=[\w)])\*\*(?=[\w(])")
_BULLET: Final = re.compile(r"(?m)^\s*(?:[-*•]|#{1,6})\s+")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_][^\W\d_])\s*-\s*(?=[^\W\d_]{2})")
_DASH: Final = re.compile(r"–(?=\s*\d)")
_LABEL: Final = re.compile(r"\(\s*([A-Za-z]|\d{1,2})\s*\)|(?:(?<=\s)|^)([A-Za-z]|\d{1,2})\)(?=\s)", re.MULTILINE)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN: Final = re.compile(
    rf"(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<word>[{_CJK}]|(?:(?![{_CJK}])[^\W\d_])+)"
    r"|(?P<operator>!=|[-+*/^=<>()\[\]|%]|(?<=[\d)])!|(?<=\W[A-Za-z])!)|(?P<other>[^\w\s])"
)
_ARTICLES: Final = frozenset(("a", "A", "I"))
_MATH: Final = frozenset("+-*/^=<>|")
_TURNING: Final = (
    "not no never none neither nor cannot without except false true least most minimum maximum min max smallest "
    "largest greatest fewest lowest highest less fewer more greater odd even increasing decreasing before after first "
    "last positive negative incorrect inside outside"
)
_TURNS: Final = frozenset(_TURNING.split())
"""Words that change the question, as a different number does."""


def tokens(text: str) -> list[str]:
    """Return the words, numbers and operators of a text, in order. Words of several letters are in lower case."""
    return [token for token, _ in _typed_tokens(text)]


def signature(text: str) -> bytes:
    """Return BLAKE2b-128 of the tokens in which different questions made from one template differ.

    These are numbers, operators, brackets, variables, and words such as "not" and "least", in their order.
    """
    found = _typed_tokens(text)
    telling = [
        token
        for place, (token, kind) in enumerate(found)
        if kind != "word" or token in _TURNS or (len(token) == 1 and _is_variable(found, place))
    ]
    return blake2b("\x1f".join(telling).encode(), digest_size=16).digest()


def _is_variable(found: Sequence[tuple[str, str]], place: int) -> bool:
    """Return whether a letter is a variable. "a" and "I" are variables only next to an operator; Chinese and Japanese
    characters never are.
    """
    letter = found[place][0]
    if not letter.isascii() and unicodedata.category(letter) == "Lo":
        return False
    if letter not in _ARTICLES:
        return True
    beside = (*found[max(place - 1, 0) : place], *found[place + 1 : place + 2])
    return any(token in _MATH for token, _ in beside)


def _typed_tokens(text: str) -> list[tuple[str, str]]:
    found = []
    for match in _TOKEN.finditer(_normalise_spelling(text)):
        kind, token = match.lastgroup or "", match[0]
        if kind == "number":
            found.append((intern(f"0{token}" if token[0] == "." else token), kind))
        elif kind == "word":
            token = intern(token if len(token) == 1 else token.casefold())
            found.append(("%", "operator") if token in ("percent", "percentage") else (token, kind))
        elif kind != "other" or unicodedata.category(token) in ("Sm", "So", "Sc"):
            found.append((token, kind))
    return found


def _normalise_spelling(text: str) -> str:
    text = _BULLET.sub(" ", text.strip())
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda found: f"^{found[0]}", text).translate(_SPELLINGS)
        text = _DASH.sub("-", unicodedata.normalize("NFKC", text)).translate(_SPELLINGS)
    if "\\" in text or "$" in text or "{" in text:
        text = _DELIMITER.sub(" ", text)
        text = _COMMAND.sub(lambda found: f" {_COMMANDS.get(found[1], found[1])} ", text.replace("\\%", "%"))
    text = _POWER.sub("^", text).replace("**", " ")
    text = _LABEL.sub(lambda found: f" {found[1] or found[2]} ", text)
    return _THOUSANDS.sub("", _HYPHEN.sub(" ", text))


# -- Distinguishes phrasings of one question from different questions made from one template.


_FUNCTION: Final = (
    "a an the this that these those it its he she they them his her their we you your i me my our us one ones of to in "
    "on at by for from with as into about and or but so if then than when while where there here is are was were be "
    "been being am do does did has have had will would can could shall should may might must which what who whom whose "
    "how why s t please find determine compute calculate evaluate solve answer question problem following given let "
    "suppose consider also just only now get give tell"
)
_FUNCTIONS: Final = frozenset(_FUNCTION.split())
"""Function words, in which phrasings of one question differ."""
_COMMON: Final = frozenset(("yes", "no", "true", "false", "unknown", "proved", "disproved", "none", "uncertain"))


class Wording(NamedTuple):
    """A question in the form in which it is compared with others.

    Attributes:
        tokens: Tokens of the question's text.
        answer: Tokens of the reference's final answer; "" if many questions have the same answer.
    """

    tokens: list[str]
    answer: str

    def words(self) -> set[tuple[str, int]]:
        seen: Counter[str] = Counter()
        found = set()
        for token in self.tokens:
            if token not in _FUNCTIONS:
                seen[token] += 1
                found.add((token, seen[token]))
        return found


def wording(question: str, reference: str) -> Wording:
    answer = " ".join(tokens(reference_answer(reference).text))
    return Wording(tokens(question), answer if len(answer) > 1 and answer not in _COMMON else "")


def may_say_the_same(one: Wording, other: Wording) -> bool:
    words, others = one.words(), other.words()
    return words <= others or others <= words or (one.answer != "" and one.answer == other.answer)


# -- Texts that share most of their shingles: an exact search by prefixes of rare shingles.


_TOLERANCE: Final = 1e-9
"""Tolerance for rounding: a threshold such as 0.7 has no exact binary form."""


def near_duplicates(texts: Sequence[Wording], threshold: float, size: int) -> list[Duplicate]:
    """Return the texts that are duplicates, each with the text that is kept and their Jaccard index.

    Args:
        texts: Texts ordered by priority: of two duplicates the earlier one is kept.
        threshold: Minimum Jaccard index of two duplicates, above 0.
        size: Number of tokens in a shingle.
    """
    shingles = _shingles_by_rarity(texts, size)
    stay: dict[int, list[int]] = {}
    gone = []
    for place, own in enumerate(shingles):
        prefix = own[: len(own) - ceil(threshold * len(own) - _TOLERANCE) + 1]
        members = frozenset(own)
        alike = []
        for other in {other for shingle in prefix for other in stay.get(shingle, ())}:
            shared = len(members.intersection(shingles[other]))
            similarity = shared / (len(own) + len(shingles[other]) - shared)
            if similarity >= threshold - _TOLERANCE:
                alike.append((-similarity, other))
        found = next((one for one in sorted(alike) if may_say_the_same(texts[place], texts[one[1]])), None)
        if found is not None:
            gone.append(Duplicate(place, found[1], -found[0]))
            continue
        for shingle in prefix:
            stay.setdefault(shingle, []).append(place)
    return gone


def _shingles_by_rarity(texts: Sequence[Wording], size: int) -> list[tuple[int, ...]]:
    """Return each text's shingles as numbers, the rarest first; a text with fewer tokens is padded to one shingle."""
    known: dict[tuple[str, ...], int] = {}
    often: Counter[int] = Counter()
    found = []
    for text in texts:
        padded = [*text.tokens, *[""] * (size - len(text.tokens))]
        sequences = zip(*(padded[start:] for start in range(size)), strict=False)
        own = tuple({known.setdefault(one, len(known)) for one in sequences})
        often.update(own)
        found.append(own)
    return [tuple(sorted(own, key=lambda shingle: (often[shingle], shingle))) for own in found]


SHINGLES: Final = 0.7
"""Least Jaccard index of two duplicate texts."""
SHINGLE: Final = 2
"""Tokens in a shingle: a changed word costs a short question two of them."""


def find_duplicates(
    project: Project,
    scope: Scope,
    *,
    threshold: float = SHINGLES,
    shingle: int = SHINGLE,
    by: str = "",
    dry_run: bool = False,
    with_pairs: bool = False,
) -> DuplicatesReport:
    """Find near-duplicate questions and exclude them; another call finds only duplicates added since.

    Args:
        threshold: Minimum Jaccard index of two duplicates.
        shingle: Number of tokens in a shingle.
        by: The person who decides on the exclusion.
        dry_run: Whether to report duplicates without excluding them.
        with_pairs: Whether the report lists every pair.

    Raises:
        UsageError: No question is selected.
    """
    questions = inside(project, scope)
    gone: list[tuple[PoolQuestion, PoolQuestion, float]] = []
    for group in _groups_by_signature(project, questions):
        wordings = [wording(text.question, text.reference) for text in _texts(project, questions, group)]
        found = near_duplicates(wordings, threshold, shingle)
        gone += [(questions[group[one.place]], questions[group[one.of]], one.similarity) for one in found]
    gone.sort(key=lambda pair: pair[0].id)
    if not dry_run:
        _exclude_duplicates(project, gone, by)
    return DuplicatesReport(
        similarity="shingles",
        threshold=threshold,
        shingle=shingle,
        questions=len(questions),
        duplicates=len(gone),
        across=sum(one.source != other.source for one, other, _ in gone),
        excluded=0 if dry_run else len(gone),
        sources=_changes_by_source(questions, [one for one, _, _ in gone]),
        pairs=tuple(_duplicate_pair(*pair) for pair in gone) if with_pairs else UNSET,
    )


def take_in_again(project: Project, scope: Scope, *, by: str) -> int:
    found = [one for one in pool(project, scope) if one.out == DUPLICATE]
    decide(project, [curation.CurationDecision(question=one.id, reason=None) for one in found], by)
    return len(found)


def _groups_by_signature(project: Project, questions: Sequence[PoolQuestion]) -> list[list[int]]:
    priority = [(-question.complete, question.dataset, question.key) for question in questions]
    order = sorted(range(len(questions)), key=priority.__getitem__)
    groups = grouped(
        (signature(text.question), place)
        for some in batches(order)
        for place, text in zip(some, _texts(project, questions, some), strict=True)
    )
    return [group for group in groups.values() if len(group) > 1]


def _texts(project: Project, questions: Sequence[PoolQuestion], places: Sequence[int]) -> list[curation.Texts]:
    reader = project.database.reader()
    ids = [questions[place].id for place in places]
    found = {}
    for some in batches(ids):
        found.update(curation.texts(reader, some))
    return [found[number] for number in ids]


def _exclude_duplicates(project: Project, gone: Sequence[tuple[PoolQuestion, PoolQuestion, float]], by: str) -> None:
    decisions = [
        curation.CurationDecision(question=one.id, reason=DUPLICATE, duplicate_of=other.id, similarity=similarity)
        for one, other, similarity in gone
    ]
    decide(project, decisions, by)


def _changes_by_source(questions: Sequence[PoolQuestion], gone: Sequence[PoolQuestion]) -> tuple[PoolChange, ...]:
    before = Counter(one.source or NAMELESS for one in questions)
    less = Counter(one.source or NAMELESS for one in gone)
    return tuple(
        PoolChange(source=source, before=count, after=count - less[source]) for source, count in sorted(before.items())
    )


def _duplicate_pair(one: PoolQuestion, other: PoolQuestion, similarity: float) -> DuplicatePair:
    return DuplicatePair(
        dataset=one.dataset,
        question_id=one.key,
        source=one.source,
        of_dataset=other.dataset,
        of=other.key,
        of_source=other.source,
        similarity=similarity,
    )
