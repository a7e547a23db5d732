"""Words that make another answer of the value they stand beside: "at least 24", "half of 24", "24 dozen", "A or C"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from workbench.verifiers.rules.words import NUMBER_WORDS

_DENYING_WORDS = """
    out ruled eliminate eliminated eliminates reject rejected rejects discard discarded wrongly
    incorrectly mistakenly excluded excludes cannot not never no none neither nor except excluding
    exclude other different anything any anyone either or maybe perhaps possibly probably presumably
    supposedly might may could unlikely hardly scarcely if unless but without false wrong incorrect
    guess doubt supposed contrary complement negation nicht kein keine oder pas jamais ou o ni nunca non
    oppure не или
"""
_DENYING = frozenset(_DENYING_WORDS.split())
"""Words that deny what stands beside them, or leave open what is meant."""
_SCALING_WORDS = """
    ish barely tops apiece best worst least most more less fewer over under above below up exceeding
    exceeds exceed beyond within between minimum maximum nearly almost close near shy short half third
    quarter tenth twice double triple quadruple thrice times dozen dozens score gross pair pairs couple
    minus plus negative squared cubed square cube root reciprocal inverse opposite multiple divisor
    factor power log million billion trillion thousand hundred hundreds thousands millions percent than
    larger smaller greater higher lower bigger longer shorter before after too off somewhere anywhere
    upwards upward downwards factorial neighbour predecessor successor preceding following next previous
    digit digits fraction mindestens höchstens mehr weniger fast beinahe knapp nahezu über unter hälfte
    doppelt moins presque moitié demi menos más casi mitad doble almeno quasi meno più mezzo менее более
    меньше больше почти половина
"""
_SCALING = frozenset(_SCALING_WORDS.split())
"""Words that make another value, or a bound, of the number beside them."""
_CONTRACTED = re.compile(r"n['’]t\b")
_HAN_BEFORE = re.compile(
    r"至少|至多|最多|最少|不少于|不多于|不超过|不小于|不大于|不低于|不高于|超过|少于|多于|大于|小于|高于|低于|不到|不足|将近|接近|近"
    r"|几乎|不是|并非|不会?是|不为|不等于|非|除了?|或|可能|也许|大概不|大约不|少なくとも|最大で|約?ほぼ|不选|没有"
)
_HAN_BEHIND = re.compile(
    r"[个只位人名元米]?(?:以上|以下|以内|以外|多|余|打|万|亿|千|百|倍|或|之间|以上|以下|未満|前|后)|的?(?:一半|[一二三四五六七八九十百]倍|平方|立方"
    r"|倒数|相反数|补集)|.{0,4}(?:ではない|错|不对|不正确)"
)
_HAN_REACH_BEFORE, _HAN_REACH_BEHIND = 7, 9
_RANGE = re.compile(r"[^\w.]*(?:to|through|till|until|bis|à|a|至|到|~|–|—)\s*\$?-?\d")
_GENERIC_WORDS = """
    a an the is are was be it its there so thus hence therefore then we get have has had answer answers
    result value total totals number amount sum in of for at on and altogether all-in final finally
    equals equal exactly precisely just only simply must which that this these those here he she they
    his her their our will would people persons person ways way units unit items item things thing
    pieces piece each overall approximately about around approx roughly ca circa et est sont le la les
    un une des il y donc réponse ist sind die der das es gibt antwort beträgt also ergibt respuesta son
    el los las hay por tanto insgesamt en tout left out now respectively i
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_KNOWN = _GENERIC | NUMBER_WORDS
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MACRO = re.compile(r"\\[A-Za-z]+")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_HAN_PLAIN = frozenset(
    "个只本人元米秒分钟天年月日小时张条件块位名种支棵头匹辆杯瓶袋盒组次是为共有的答案最终等于一总计约得到所以因此故选项"
)
_CLAUSE = re.compile(r"[,;:：，；.!?。！？\n=()]")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|equals?|gives?|get|gets|obtains?|have|has|had|makes?|pays?|costs?|needs?|est|sont|ist|sind|es|son)\b",
    re.IGNORECASE,
)
_NEAR_BEFORE, _NEAR_BEHIND = 5, 4
_DIGIT = re.compile(r"\d")
_HAN_DENIES = re.compile(r"不是|并非|不选|不对|不正确|错误|错的|除了|或者?|可能|也许|ではない")
_ALTERNATIVE = re.compile(
    r"[\s$*_}\])\\]{0,8},?\s*(?:or|oder|ou|unless|maybe|perhaps|if)\s+(?!(?:so\s+)?(?:about|roughly|approximately|equivalently|simply|just|in|as|written|≈|\\approx))",
    re.IGNORECASE,
)
_SIGN_BEFORE = re.compile(
    r"(?:[-+−*/^<>≤≥≠±¬~√]|\\(?:leq?|geq?|neq?|lt|gt|pm|neg|lnot|not|sqrt|x?cancel|times|cdot|leqslant|geqslant))[\s{]*\Z"
)
_SIGN_BEHIND = re.compile(
    r"[\s}]*(?:[-+−*/^<>≤≥≠±?!]|\\(?:times|cdot|pm|leq?|geq?|lt|gt)(?![A-Za-z]))(?!\s*[A-Za-z]{2}|\*)"
)


def words(text: str) -> list[str]:
    """The words of a text in lower case, macros left out."""
    return [word.casefold() for word in _WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text)]


def denying(text: str, meant: Iterable[str] = ()) -> bool:
    """Whether a text denies what stands beside it, or leaves open which of several answers is meant.

    Args:
        text: What stands there.
        meant: Words that belong to the answer, as those of the reference do.
    """
    if _DENYING.intersection(words(text)).difference(meant) or (
        ("'" in text or "’" in text) and _CONTRACTED.search(text)
    ):
        return True
    return not text.isascii() and _HAN_DENIES.search(text) is not None


def changing(text: str, meant: Iterable[str] = ()) -> bool:
    """Whether a text holds a word that makes another answer of what stands beside it."""
    return denying(text, meant) or bool(_SCALING.intersection(words(text)).difference(meant))


def changed_by_words(before: str, behind: str, meant: Iterable[str] = (), scaling_only: bool = False) -> bool:
    """Whether what stands right before or behind a value, in its clause, makes another value of it.

    Args:
        before: The text before the value.
        behind: The text behind it.
        meant: Words that belong to the answer.
        scaling_only: Not to look for denials before it, whose reach only a whole sentence shows.
    """
    clause = _CLAUSE.split(before)[-1]
    verbs = list(_VERB.finditer(clause))
    near = _last_words(clause[verbs[-1].end() if verbs else 0 :], _NEAR_BEFORE)
    after = _first_words(_CLAUSE.split(behind, maxsplit=1)[0], _NEAR_BEHIND)
    if _SCALING.intersection([*words(near), *words(after)]).difference(meant) or _RANGE.match(behind):
        return True
    if not scaling_only and (denying(near, meant) or denying(after, meant)):
        return True
    if _ALTERNATIVE.match(behind) and "or" not in meant:
        return True
    if before.isascii() and behind.isascii():
        return False
    return bool(
        _HAN_BEFORE.search(clause[-_HAN_REACH_BEFORE:]) or _HAN_BEHIND.match(behind.lstrip(" $*}")[:_HAN_REACH_BEHIND])
    )


def changing_behind(text: str) -> bool:
    """Whether Chinese or Japanese right behind a number makes another one of it: 以上, 万, 的一半."""
    return not text.isascii() and _HAN_BEHIND.match(text[:_HAN_REACH_BEHIND]) is not None


def leading_words(text: str) -> str:
    """What stands before the first digit of an answer in words and digits; nothing where there are no digits."""
    first = _DIGIT.search(text)
    return text[: first.start()] if first else ""


def changed_by_signs(before: str, behind: str) -> bool:
    """Whether a sign right before or behind a value makes another one of it."""
    return _SIGN_BEFORE.search(before) is not None or _SIGN_BEHIND.match(behind) is not None


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    """The words that are neither everyday ones of answers nor known: what they say of the answer nobody can tell."""
    stems = {stem(word) for word in known}
    found = [
        word
        for word in words(text)
        if not _HAN.search(word) and len(word) > 1 and word not in _KNOWN and stem(word) not in stems
    ]
    if not text.isascii():
        signs = set("".join(known)) | _HAN_PLAIN
        found += [sign for sign in _HAN.findall(text) if sign not in signs]
    return found


def stem(word: str) -> str:
    """A word without the endings of number and tense."""
    for ending in ("ing", "ied", "ies", "ed", "es", "s", "e"):
        if len(word) - len(ending) > 2 and word.endswith(ending):
            return word.removesuffix(ending)
    return word


def _last_words(text: str, count: int) -> str:
    found = list(re.finditer(r"\S+", text))
    return text[found[-count].start() :] if len(found) > count else text


def _first_words(text: str, count: int) -> str:
    found = list(re.finditer(r"\S+", text))
    return text[: found[count - 1].end()] if len(found) > count else text
