"""Qualifiers: words and signs next to a value that make another answer of it: "at least 24", "half of 24", "24 dozen".

They are read once, into a set of marks: the words and signs themselves, with ``?`` before a word of unknown effect. A
candidate's value counts if it has no mark that both the reference and the question lack.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from workbench.verifiers.rules.numberwords import NUMBER_WORDS, names_place
from workbench.verifiers.rules.units import unit

_DENYING_WORDS = """
    out ruled eliminate eliminated eliminates reject rejected rejects discard discarded wrongly
    incorrectly mistakenly excluded excludes cannot not never no none neither nor except excluding
    exclude other different anything any anyone either or maybe perhaps possibly probably presumably
    supposedly might may could unlikely hardly scarcely if unless but without false wrong incorrect
    guess doubt supposed contrary complement negation fail fails failed nicht kein keine oder pas jamais
    ou o ni nunca non
    oppure не или
"""
_DENYING = frozenset(_DENYING_WORDS.split())
"""Words that deny the value next to them, or leave open which is meant."""
_SCALING_WORDS = """
    ish barely tops apiece best worst least most latest earliest more less fewer over under above below up
    outside inside exceeding exceeds exceeded exceed beyond within between minimum maximum nearly almost close
    near shy short half third
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
"""Words that make another value, or a bound, of the number next to them."""
_CONTRACTED = re.compile(r"n['’]t\b")
_HAN_BEFORE = re.compile(
    r"至少|至多|最多|最少|不少于|不多于|不超过|不小于|不大于|不低于|不高于|超过|少于|多于|大于|小于|高于|低于|不到|不足|将近|接近|近"
    r"|几乎|不是|并非|非|不会?是|不为|不等于|除了?|或|可能|也许|大概不|大约不|少なくとも|最大で|約?ほぼ|不选|没有"
)
_HAN_BEHIND = re.compile(
    r"[个只位人名元米]?(?:以上|以下|以内|以外|多|余|打|万|亿|千|百|倍|或|之间|未満|前|后)|的?(?:一半|[一二三四五六七八九十百]倍|平方|立方"
    r"|倒数|相反数|补集)|.{0,4}(?:ではない|错|不对|不正确)"
)
_HAN_DENIES = re.compile(r"不是|并非|不选|不对|不正确|错误|错的|除了|或者?|可能|也许|ではない")
_HAN_REACH_BEFORE, _HAN_REACH_BEHIND = 7, 9
_RANGE = re.compile(r"[^\w.]*(?:to|through|till|until|bis|à|a|至|到|~|–|—)\s*\$?-?\d")
_GENERIC_WORDS = """
    a an the is are was be it its there so thus hence therefore then we get have has had answer answers
    result value total totals number amount sum in of for at on and altogether all-in final finally
    equals equal exactly precisely just only simply must which that this these those here he she they
    his her their our will would people persons person ways way units unit items item things thing
    pieces piece each overall approximately about around approx roughly ca circa et est sont le la les
    un une des il y donc réponse ist sind die der das es gibt antwort beträgt also ergibt respuesta son
    el los las hay por tanto insgesamt en tout left out now respectively i should typically usually normally
    generally commonly with us
"""
_KNOWN = frozenset(_GENERIC_WORDS.split()) | NUMBER_WORDS
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_MACRO = re.compile(r"\\[A-Za-z]+")
_TEX = re.compile(r"\\(?!text|math|left|right|mbox|quad|qquad|boxed|displaystyle|%|\$)[A-Za-z]+")
_HAN = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_HAN_PLAIN = frozenset(
    "个只本人元米秒分钟天年月日小时张条件块位名种支棵头匹辆杯瓶袋盒组次是为共有的答案最终等于一总计约得到所以因此故选项정답은입니다이는개명원正解はですだ"
)
_CLAUSE = re.compile(r"[,;:：，；.!?。！？\n=()]")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|equals?|gives?|get|gets|obtains?|have|has|had|makes?|pays?|costs?|needs?|est|sont|ist|sind|es|son)\b",
    re.IGNORECASE,
)
STATES = re.compile(
    r"(?i:\b(?:is|are|was|were|be|equals?|gives?|yields?|gets?|makes?|leaves?|prints?|returns?|outputs?|costs?|lasts?|takes"
    r"|measures|weighs|reads?|shows?|(?:factors?|factori[sz]es|splits|decomposes)\s+(?:as|into)|has|have|contains?|becomes|keeps?|obtain|find|est|sont|vaut|donne|ist|sind|lautet|beträgt"
    r"|ergibt|es|son|vale|queda)\b)\s*:?\s*|[:：](?!\d)\s*|(?<!不)(?:[是为得]|等于)\s*"
)
"""A verb or sign that is followed by a value."""
TOWARDS = re.compile(r"(?i:\b(?:at|on|to|by|insgesamt))\s+")
"""Words that lead to a value if no number is before them: "arrives at 15:30"."""
_SUBJECT = re.compile(rf"{STATES.pattern}|=")
_BRACKETED = re.compile(r"\s*[(（]([^()（）]*)")
_JOINS_UNIT = re.compile(r"\s+(?:with|by|using|via|of)\s+(?:the\s+)?([^\W\d_]{2,})")
_NEXT_DAY = re.compile(r"\b(?:next|following|previous)\s+(?:day|morning|night|evening|afternoon)\b", re.IGNORECASE)
_SIGN_BETWEEN = re.compile(r"[:：=≈$\\€£¥]")
_NEAR_BEFORE, _NEAR_BEHIND = 5, 4
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
_CONGRUENT = re.compile(r"(?:\\equiv|≡)\s*\Z")
_MODULO = re.compile(r"\s*\(?\s*\\?(?:pmod|bmod|mod)\b")
_DIGIT = re.compile(r"\d")
_PROSE, _HAN_PROSE = 5, 8
_LISTED = re.compile(r"[,;、，]|\band\b")
_LONG_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDINGS = r"st|nd|rd|th|er|re|ère|e|ème|eme|ième|ieme|ste|de|:[ae]|[.]?[ºª]|[.]º|-?(?:я|й|е|го|ая|ый|ой|ое|ий|ья)"
_PLACE = re.compile(
    rf"""\d\s?(?:\^\s?)?\{{?\s?(?:{_ENDINGS})\}}?(?![^\W_]|\s?[\^_(])(?<!\d\se)(?!(?<=e)[-+]?\d)
    | 第\s?\{{?\d | \d\s?(?:番目|番|번째|位目|[号號]) | [№\#]\s?\d
    | \b(?:rank|place|position|nr\.?|no\.|n[º°]|platz|rang|stelle|puesto|lugar|place)\s?\d
    | \d\.\s(?:Stelle|Platz|Rang|Tag|Etage|Stock|Mal|Jahr|Monat|Person|Glied|Zeile|Spalte)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MAY_BE_PLACE = re.compile(r"[A-Za-zºª№#\u0400-\u04ff\u3000-\u9fff\uac00-\ud7af]")
_ROUGH_WORDS = (
    r"about|around|approximately|approx\.?|roughly|circa|ca?\.|some|environ|etwa|ungefähr|rund|zirka|unos|unas|cerca\s+d[ei]"
    r"|aproximadamente|approximativement|около|примерно|приблизительно"
)
_ROUGH = re.compile(
    rf"""(?:\A|\b(?:is|are|be|of|=|est|ist|son|es)|=|[:：是为有])[\s$({{*]*
    (?: [~∼〜～≈≃≅≒] | \\(?:approx(?:eq)?|sim(?:eq)?|thickapprox|cong|doteq)(?![A-Za-z])
      | (?:{_ROUGH_WORDS})\b\.? | [约約]|大约|大概|差不多|およそ|약 )
    [\s$({{*]*\\?\$?[-−]?\d
    | \d[^\w.]{{0,3}}(?:\(?(?:approx|roughly|circa|ungefähr|environ)
      | or\s+thereabouts|左右|上下|くらい|ほど|쯤|give\s+or\s+take)""",
    re.IGNORECASE | re.VERBOSE,
)
_ROUGH_BEFORE = re.compile(
    rf"(?:(?:\A|[\s(])(?:{_ROUGH_WORDS})|(?<!\S)~|∼|\\sim|[约約]|大约|大概|差不多|およそ|약)[\s$*{{]*\Z", re.IGNORECASE
)
_MAY_BE_ROUGH = re.compile(r"[~∼〜～≈≃≅≒约約大差약]|\\[acdst]|[a-zа-я]{3}|c\.|およそ|左|上", re.IGNORECASE)
_PRIMED = re.compile(r"\A[^'′\"″]*\d\s?['′\"″]\Z")

NOTHING: frozenset[str] = frozenset()
ROUGH, PLACE, SIGN, UNREADABLE = "≈", "#", "±", "?"
"""Marks of an approximate number, of a place in an order, of a sign of a larger formula, of illegible characters."""


_ADVERB_WORDS = "at each per top ish apiece or and if is on off from in to"
_ADVERBS = frozenset(_ADVERB_WORDS.split())
_CURRENCY = re.compile(r"[$€£¥₹¢₽₩元円]")
_CURRENCY_REACH = 3
_BROKEN = re.compile("[\ud800-\udfff]")


_TAKEN_BACK = re.compile(r"[(\s](?:correction|wait|actually|i\s+mean|scratch\s+that|no,)", re.IGNORECASE)
_RATE = re.compile(r"[\s$*]*(?:[^\W\d_]+\s+(?:per|an?|each|every)|per|each|every)\s+[^\W\d_]+")


class Around(NamedTuple):
    """The text before and after a value in its phrase."""

    before: str
    behind: str


_OPPOSITES = (
    ("profit gain gains profits", "loss losses lose loses lost"),
    ("increase increased increases rise rises rose up", "decrease decreased decreases fall falls fell drop drops down"),
    ("early earlier ahead", "late later behind"),
    ("north", "south"),
    ("east", "west"),
    ("left", "right"),
    ("clockwise", "counterclockwise anticlockwise counter-clockwise"),
    ("minimum min", "maximum max"),
    ("ce ad", "bce bc"),
)
_DIRECTIONS = {
    word: f"{sign}{group[0].split()[0]}"
    for group in _OPPOSITES
    for sign, side in zip("+-", group, strict=True)
    for word in side.split()
}
"""Words that state on which of two sides a value is -> the mark of that side."""


def directions(text: str) -> frozenset[str]:
    """Return the marks of the sides that a text names (profit, north ...), unless it names the opposite side, too."""
    found = {_DIRECTIONS[word] for word in words(text) if word in _DIRECTIONS}
    return frozenset(mark for mark in found if ("-" if mark[0] == "+" else "+") + mark[1:] not in found)


def are_opposed(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two answers are on opposite sides, by their marks: a profit and a loss."""

    def other_side(mark: str) -> str:
        return ("-" if mark[0] == "+" else "+") + mark[1:]

    sides = {mark for mark in one if mark[0] in "+-" and other_side(mark) not in one}
    return any(other_side(mark) in other and mark not in other for mark in sides)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, without TeX macros."""
    return [word.casefold() for word in _WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text)]


def word_count(text: str) -> int:
    """Return the number of words of at least two letters in an answer, without TeX macros."""
    return len(_LONG_WORD.findall(_MACRO.sub(" ", text) if "\\" in text else text))


def is_prose(text: str) -> bool:
    """Return whether an answer is a sentence; a list of words is not."""
    if len(text) > 20 and any(word_count(part) >= _PROSE for part in _LISTED.split(text)):
        return True
    return not text.isascii() and len(_HAN.findall(text)) >= _HAN_PROSE


def has_denial(text: str, meant: Iterable[str] = ()) -> bool:
    """Return whether a text denies the value next to it, or leaves open which of several answers is meant.

    Args:
        text: The text.
        meant: Words that belong to the answer, such as those of the reference.
    """
    return bool(_denials(text).difference(meant))


def _denials(text: str) -> set[str]:
    found = _DENYING.intersection(words(text))
    if ("'" in text or "’" in text) and _CONTRACTED.search(text):
        found |= {"n't"}
    if not text.isascii() and _HAN_DENIES.search(text):
        found |= {"不"}
    return set(found)


def has_change_word(text: str, meant: Iterable[str] = ()) -> bool:
    """Return whether a text contains a word that changes the meaning of the value next to it."""
    return bool(change_marks(text).difference(meant))


def change_marks(text: str) -> set[str]:
    return _denials(text) | _SCALING.intersection(words(text))


def marks_near(around: Around, scaling_only: bool = False) -> frozenset[str]:
    """Return the marks right before or after a value, in its clause.

    Args:
        around: Its surroundings.
        scaling_only: Whether to ignore denials, whose scope only a whole sentence shows.
    """
    clause = _CLAUSE.split(around.before)[-1]
    verbs = list(_VERB.finditer(clause))
    near = " ".join(clause[verbs[-1].end() if verbs else 0 :].split()[-_NEAR_BEFORE:])
    after = " ".join(_CLAUSE.split(around.behind, maxsplit=1)[0].split()[:_NEAR_BEHIND])
    found = _SCALING.intersection([*words(near), *words(after)])
    if _RANGE.match(around.behind):
        found |= {"…"}
    if _RATE.match(around.behind):
        found |= {"?per"}
    if not scaling_only:
        found |= _denials(near) | _denials(after)
    if _ALTERNATIVE.match(around.behind):
        found |= {"or"}
    if not (around.before.isascii() and around.behind.isascii()) and (
        _HAN_BEFORE.search(clause[-_HAN_REACH_BEFORE:])
        or _HAN_BEHIND.match(around.behind.lstrip(" $*}")[:_HAN_REACH_BEHIND])
    ):
        found |= {"多"}
    return frozenset(found)


def qualifiers_of_phrase(phrase: str, value: str) -> frozenset[str]:
    at = phrase.rfind(value)
    if at < 0:
        return frozenset(UNREADABLE)
    directed = directions(phrase)
    around = Around(phrase[:at], phrase[at + len(value) :])
    if _CONGRUENT.search(around.before) and _MODULO.match(around.behind):
        return NOTHING
    found = set(marks_near(around)) | qualifiers_of_number(phrase, value)
    if _SIGN_BEFORE.search(around.before.rstrip(" $*")) or _SIGN_BEHIND.match(around.behind):
        found.add(SIGN)
    if _CURRENCY.search(around.before[-_CURRENCY_REACH:] + around.behind[:_CURRENCY_REACH]):
        found.add("¤")
    if _TAKEN_BACK.search(around.behind):
        found.add("correction")
    if _BROKEN.search(phrase):
        found.add(UNREADABLE)
    found |= directed
    if _DIGIT.search(value) and (joined := _JOINS_UNIT.match(around.behind)) and unit(joined[1]) and not unit(value):
        found.add(f"?{stem(joined[1])}")
    if remark := _BRACKETED.match(around.behind):
        found |= qualifiers_after(remark[1])
    subject = _SUBJECT.split(around.before)
    if is_prose(phrase):
        lead = TOWARDS.split(_CLAUSE.split(subject[-1])[-1])[-1]
        about = _CLAUSE.split(" ".join(subject[-2:-1]))[-1]
        named = bool(subject[1:]) or not _DIGIT.search(value)
        return frozenset(
            found | (_unknown_word_marks(lead) if named else set()) | {f"?{stem(word)}" for word in change_marks(about)}
        )
    found |= {f"?{stem(word)}" for word in change_marks(" ".join(subject[:-1]))}
    found |= change_marks(f"{subject[-1]} {around.behind}")
    found.update(_TEX.findall(f"{around.before} {around.behind}"))
    rest = f"{subject[-1]} {around.behind}"
    return frozenset(found | _unknown_word_marks(rest))


def qualifiers_after(text: str) -> set[str]:
    """Return the marks in the rest of a sentence after a value; "the next day" after a time is no change."""
    return change_marks(_NEXT_DAY.sub(" ", text))


def qualifiers_of_number(phrase: str, value: str = "") -> frozenset[str]:
    """Return the marks that are part of a number: "24th", "about 24", "at least 24".

    Args:
        phrase: The whole answer.
        value: The extracted part; "" if the number is the whole answer.
    """
    found: set[str] = set()
    if not value and not is_prose(phrase) and (first := _DIGIT.search(phrase)):
        before = phrase[: first.start()]
        found |= change_marks(before)
        if before.isascii() and not _SIGN_BETWEEN.search(before):
            found |= _unknown_word_marks(before)
    if _MAY_BE_PLACE.search(phrase) and (_PLACE.search(phrase) or names_place(phrase)):
        found.add(PLACE)
    if (_MAY_BE_ROUGH.search(phrase) and _ROUGH.search(phrase)) or _PRIMED.search(phrase):
        found.add(ROUGH)
    return frozenset(found)


def qualifiers_of_noun(noun: str) -> frozenset[str]:
    """Return the marks of text after a number that is not a known unit: "24 too many", "24以上", "24 each"."""
    found = change_marks(noun)
    if not noun.isascii() and _HAN_BEHIND.match(noun[:_HAN_REACH_BEHIND]):
        found |= {"多"}
    first = noun.split()[0].casefold()
    return frozenset(found | ({f"?{stem(first)}"} if first in _ADVERBS else set()))


def is_rough_before(text: str) -> bool:
    """Return whether a text ends with a word or sign that makes the following number approximate."""
    return _ROUGH_BEFORE.search(text) is not None


def _unknown_word_marks(text: str) -> set[str]:
    found = {
        f"?{stem(word)}"
        for word in words(text)
        if not _HAN.search(word) and len(word) > 1 and word not in _KNOWN and not (unit(word) or unit(word.upper()))
    }
    if not text.isascii():
        found |= {f"?{sign}" for sign in _HAN.findall(text) if sign not in _HAN_PLAIN}
    return found


def unknown_words(text: str, known: Iterable[str]) -> list[str]:
    said = [word for word in words(text) if len(word) > 1 and word not in _KNOWN]
    stems = {stem(word) for word in known} if said else set()
    return [word for word in said if stem(word) not in stems]


@lru_cache(maxsize=64)
def explained_by(text: str) -> frozenset[str]:
    """Return the marks that need no explanation after a text: its words, each also as a word of unknown effect."""
    found = words(text)
    signs = {f"?{sign}" for sign in _HAN.findall(text)} if not text.isascii() else set()
    return frozenset({*found, *(f"?{stem(word)}" for word in found), *signs})


_STEM_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "e")


def stem(word: str) -> str:
    """Return a word without its ending of plural or tense."""
    if not word.endswith(_STEM_ENDINGS):
        return word
    for ending in _STEM_ENDINGS:
        if len(word) - len(ending) > 2 and word.endswith(ending):
            return word.removesuffix(ending)
    return word
