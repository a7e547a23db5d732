"""A question's text as tokens, so that how it is written no longer matters, and what it asks still does.

Spaces, letter case, punctuation, Markdown and LaTeX's layout go; digits, operators, brackets and variables stay: of two
questions of one template, "2+3" and "2+5" are different questions. What carries that difference is a text's
`signature`, and only texts with equal signatures are ever compared. A duplicate with another spelling of a number
("three" for 3) is missed on purpose.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b
from sys import intern
from typing import Final, NamedTuple

from workbench.core.final_answer import reference_answer

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
r"""LaTeX commands that have another spelling, or say nothing of what is asked."""
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
"""Words that turn what is asked into something else, as another number does."""


def tokens(text: str) -> list[str]:
    """The words, numbers and operators of a text, in order; words of several letters in lower case."""
    return [token for token, _ in _read(text)]


def signature(text: str) -> bytes:
    """BLAKE2b-128 of what tells questions of one template apart.

    Those are numbers, operators, brackets, variables, and words such as "not" and "least", in their order.
    """
    found = _read(text)
    telling = [
        token
        for place, (token, kind) in enumerate(found)
        if kind != "word" or token in _TURNS or (len(token) == 1 and _is_variable(found, place))
    ]
    return blake2b("\x1f".join(telling).encode(), digest_size=16).digest()


def _is_variable(found: Sequence[tuple[str, str]], place: int) -> bool:
    """Whether a letter is one; "a" and "I" only beside an operator, and a sign of Chinese or Japanese never."""
    letter = found[place][0]
    if not letter.isascii() and unicodedata.category(letter) == "Lo":
        return False
    if letter not in _ARTICLES:
        return True
    beside = (*found[max(place - 1, 0) : place], *found[place + 1 : place + 2])
    return any(token in _MATH for token, _ in beside)


def _read(text: str) -> list[tuple[str, str]]:
    """Tokens, each with its kind."""
    found = []
    for match in _TOKEN.finditer(_plain(text)):
        kind, token = match.lastgroup or "", match[0]
        if kind == "number":
            found.append((intern(f"0{token}" if token[0] == "." else token), kind))
        elif kind == "word":
            token = intern(token if len(token) == 1 else token.casefold())
            found.append(("%", "operator") if token in ("percent", "percentage") else (token, kind))
        elif kind != "other" or unicodedata.category(token) in ("Sm", "So", "Sc"):
            found.append((token, kind))
    return found


def _plain(text: str) -> str:
    """The text in one spelling."""
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


# -- What two wordings of one question have in common, and what only two questions of one template have.


_FUNCTION: Final = (
    "a an the this that these those it its he she they them his her their we you your i me my our us one ones of to in "
    "on at by for from with as into about and or but so if then than when while where there here is are was were be "
    "been being am do does did has have had will would can could shall should may might must which what who whom whose "
    "how why s t please find determine compute calculate evaluate solve answer question problem following given let "
    "suppose consider also just only now get give tell"
)
_FUNCTIONS: Final = frozenset(_FUNCTION.split())
"""Words in which wordings of one question differ, and that say little of what is asked."""
_COMMON: Final = frozenset(("yes", "no", "true", "false", "unknown", "proved", "disproved", "none", "uncertain"))


class Wording(NamedTuple):
    """A question as it is compared.

    Attributes:
        tokens: Of its text.
        answer: Its reference's final answer in tokens; "" for one that many questions share.
    """

    tokens: list[str]
    answer: str

    def words(self) -> set[tuple[str, int]]:
        """Those tokens that say what it is about, each with how often it has come: the second "red" is another one."""
        seen: Counter[str] = Counter()
        found = set()
        for token in self.tokens:
            if token not in _FUNCTIONS:
                seen[token] += 1
                found.add((token, seen[token]))
        return found


def wording(question: str, reference: str) -> Wording:
    """The wording of a question."""
    answer = " ".join(tokens(reference_answer(reference).text))
    return Wording(tokens(question), answer if len(answer) > 1 and answer not in _COMMON else "")


def may_say_the_same(one: Wording, other: Wording) -> bool:
    """Whether nothing speaks against two texts that are much alike."""
    words, others = one.words(), other.words()
    if words <= others or others <= words:
        return True
    return one.answer != "" and one.answer == other.answer
