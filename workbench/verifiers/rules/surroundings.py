"""The text around an answer in a completion, and whether it denies the answer or makes it another value."""

from __future__ import annotations

import re
from collections import deque
from typing import NamedTuple

from workbench.core.final_answer import FinalAnswer, reply_start
from workbench.verifiers.rules.units import unit

_REACH, _REACH_BEFORE = 300, 180
_MACRO = re.compile(r"\\f?boxed\s*\{\s*\Z|\\fbox\s*\{\s*\Z")
_MACRO_REACH = 24
_CLOSED = re.compile(r"\s*\}")
_SENTENCE = re.compile(r"(?:[.!?][\"”’')\]]*(?=[\s*])|[。！？；])[\s*_]*")
_OPENERS = re.compile(r"(?:\s|\$|\\[(\[]|\*\*|__|~|\\[,;:! ]|\\(?:displaystyle|text\w*\s*\{)|\{)*\Z")

_OPINION = (
    r"(?:do|does|did|would|could|can|should|will|must)(?:n['’]?t|\s+not)\s+(?:think|believe|say|agree|accept|guess|claim"
    r"|mean|suppose|see\s+how|consider)|(?:\bis|['’]s|\bbe)\s+(?:not|false|wrong|incorrect|untrue|a\s+mistake)\s+"
    r"(?:true\s+|correct\s+|right\s+|the\s+case\s+|so\s+)?(?:that|to)\b|\bdoubt\w*|\bden(?:y|ies|ied)\b|\brefut\w+|\bnobody\b"
    r"|\b(?:hasty|careless|sloppy|unwary|inattentive|na[iï]ve)\s+(?:reader|solver|student|person|look|approach|reading|count|answer|guess)\b"
    r"|\bmis(?:read|count|calculat|interpret|underst|remember)\w*|\bforg[eo]t\w*|\boverlook\w*|\bno\s+one\b|\bhard\s+to\s+believe|\bfar\s+from"
)
_NEGATION = re.compile(
    rf"(?P<opinion>{_OPINION})"
    r"|\bno\s+(?:es|son|era)\b|\b(?:anything|anyone|anybody|everything|everyone|all|any\s+\w+)\s+(?:but|except)\b"
    r"|\brul(?:e[sd]?|ing)\s+out|\b(?:exclude[sd]?|eliminat\w+|reject\w*|discard\w*|ignor\w+|disregard\w*"
    r"|differs?\s+from|unequal\s+to|used\s+to\s+(?:think|say|believe)|previously|formerly|at\s+first|initially|tempt\w+"
    r"|once\s+thought|na[iï]ve(?:ly)?|superficial(?:ly)?|hastily|careless(?:ly)?)\b|[✗✘❌]|아니|틀"
    r"|\b(?:not|never|neither|nor|cannot|hardly|scarcely|except|excluding|wrong\w*|incorrect\w*|false\w*|mistak\w+|untrue"
    r"|rather\s+than|instead\s+of|other\s+than|different\s+from|distinct\s+from|unlike|isnt|nope|wasnt)\b|n['’]t\b"
    r"|不是|并非|不为|不等于|不会|不可能|不应|绝非|不选|不对|错误|错的|除了|除"
    r"|\b(?:nicht|kein\w*|niemals|falsch\w*|pas|jamais|faux|fausse|nunca|jamás|falso|incorrect[oa]|non\s+è|não|niet|inte|nie)\b"
    r"|\bне\b|\bневерн\w+|\bнеправильн\w+",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"[,;:：，；、—–\n=]|\b(?:so|thus|hence|therefore|but|and|then|which|we|giving|gives|yield\w*|leaving|instead|rather|sondern"
    r"|mais|sino|donc|also|por\s+tanto)\b|(?:而是|所以|因此|故)"
)
_ASSERTS = re.compile(
    r"[=:：≈]|\b(?:is|are|was|were|equals?|give[sn]?|giving|yield\w*|get|gets|obtain\w*|have|has|had|find|found|lea(?:ves?|ving)"
    r"|becomes?|makes?|so|thus|hence|therefore|but|then|answer|result|solution|est|sont|ist|sind|es|son|sondern|mais|sino"
    r"|donc|also|choose|pick|instead|options?|choices?|namely|means?|only|answers?)\b|[是为得有选]|所以|因此|故|而是",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:：，；、—–\n]|\b(?:so|thus|hence|therefore|but)\b|而是|所以|因此|故")
_OF_THE_ANSWER = re.compile(
    r"\b(?:answers?|results?|solution|it|this|that|option|choice|réponse|antwort|respuesta)\b[^,;:.\n]{0,30}\Z",
    re.IGNORECASE,
)

_SAID = (
    r"(?:say|says|said|saying|claim\w*|think|thinks|thought|believ\w+|assum\w+|suppos\w+|answer(?:s|ed)|(?<!the\s)(?<!our\s)(?<!my\s)(?<!nal\s)answer|guess\w*|suggest\w*|argu\w+"
    r"|propos\w+|assert\w*|insist\w*|maintain\w*|report\w*|according\s+to|wrote|writes|states?|stated|concluded?|concludes"
    r"|gets?|got|gives?|gave|obtain\w*|found|finds|puts?|picks?|picked|chose|chooses|tells?|told|names?|named|naive\w*|naïve\w*"
    r"|lists?|prints?|shows?|displays?|disent|dit|répond\w*|prétend\w*|dijo|respondi[óo]|contest[óa]|behauptet\w*|antwortet\w*|сказал\w*|pensent|croient|sagen|sagt|meinen|meint|glauben|dicen|dice|creen|piensan|dizem|dicono|говорят|считают)"
)
_SAID_BY = re.compile(rf"\b(?P<verb>{_SAID})\b|有人|别人|同学|学生|小明|(?:认为|觉得|回答|声称|以为|说)", re.IGNORECASE)
_SPEAKER = re.compile(
    r"(?:\b(?:I|we)(?:['’](?:d|ve|ll))?(?:\s+(?:can|may|could|also|now|then|finally|have|had|would))?"
    r"|我们?|如题|可以)\s*\Z"
)
_BY_OTHERS = re.compile(
    r"(?:\b(?:some|many|most|several|few|lots\s+of|plenty\s+of|other|certain)(?:\s+(?:\w+\s+){0,2}?(?:people|persons?|students?|readers|authors|books"
    r"|websites|sources|pupils|folks|users|solvers|models?|ones))?|\b(?:others|people|someone|somebody|everyone|everybody|critics|opponents|sceptics"
    r"|skeptics|certains|beaucoup|manche|viele|einige|algunos|muchos|alguns|muitos|alcuni|molti|некоторые|многие)|\bit(?:['’]s|\s+is|\s+was)"
    r"\s+(?:\w+\s+)?(?:often|sometimes|commonly|widely|frequently|wrongly|popularly|usually|being|once)|\bone\s+(?:might|may|could|would))"
    r"(?:\s+(?:often|may|might|would|will|could|wrongly|mistakenly|even|still|tend\s+to|do|people))*\s*\Z",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\b(?:so|thus|hence|therefore|then|but|however|yet|which\s+means|we|I|donc|also|por\s+tanto)\b"
    r"|[；;]|所以|因此|故|可得|则"
)
_ERRS = re.compile(
    r"\b(?:disagree\w*|beg\s+to\s+differ|err(?:s|ed|ing|or|oneous\w*)?|mistak\w+|mistook|wrong\w*|incorrect\w*|false\w*|untrue"
    r"|miscount\w*|miscalculat\w*|misread\w*|misunderst\w*|misinterpret\w*|mislead\w*|misled|overlook\w*|overcount\w*|undercount\w*"
    r"|forg[eo]t\w*|confus\w+|ignor\w+|neglect\w*|omit\w*|slipped|blunder\w*|fooled|broken|hallucinat\w+|flaw\w*|fallac\w+|not\s+(?:so|right|correct|true)|otherwise"
    r"|(?:is|was|are|were|does|do|did|can)n['’]t|I\s+(?:doubt|differ|object|think\s+not)|tromp\w+|erreur|irren|irrt|Irrtum|Fehler|falsch|stimmt\s+nicht"
    r"|equivoc\w*|errad\w+|err[oó]neo|sbagli\w+|ошиб\w+|неверно)\b"
    r"|\b(?:but|however|yet|though|although|whereas|nevertheless|mais|aber|pero|mas|ma|но|jedoch|doch|sin\s+embargo|cependant)\b[\s,]+"
    r"(?:(?:[\w'’]+)[\s,]+){0,3}?(?:I|we|my|our|the\s+(?:right|correct|true|real|actual)|in\s+(?:fact|reality|truth)|actually|really|je|nous|ich|wir|yo|nosotros|eu|io|я|мы)\b"
    r"|不同意|错|不对|不正确|忘|忽略|其实|但我|误",
    re.IGNORECASE,
)
_SAID_BEHIND = re.compile(
    rf"[\s$*_}}\])\\,]{{0,8}}(?:\s*(?:is|was|were|has\s+been)?\s*(?:what\s+(?:\w+\s+){{1,2}}{_SAID}\b"
    rf"|(?:{_SAID}|given|put\s+forward|written)\s+by\b|(?:is|was)\s+(?:\w+['’]s|the\s+\w+['’]s|his|her|their)\s|(?:says|said|claims|thinks)\s))",
    re.IGNORECASE,
)
_OTHERS_REACH = 160

_FALSE = (
    r"(?:wrong|incorrect|false|mistaken|untrue|erroneous|mistake|invalid|nonsense|rejected|ruled\s+out|disproved|refuted"
    r"|impossible|nope|crossed\s+out|off\s+by|a\s+trap|a\s+distractor|a\s+red\s+herring|a\s+decoy"
    r"|too\s+(?:small|large|big|high|low|many|few|much|little|long|short|early|late)"
    r"|(?:not|n['’]t|never|hardly)\s+(?:(?:the|a|an|my|our|quite|really|actually|be|is|was|even|at\s+all|what)\s+){0,3}"
    r"(?:correct|right|true|answers?|solution|result|it|valid|possible|acceptable|enough|so|asked|final|plausible|work)"
    r"|can(?:not|['’]t)\s+(?:be|work)|fails?\b|does\s+not\s+(?:work|fit|hold|satisfy)|doesn['’]t\s+(?:work|fit|hold|satisfy)"
    r"|falsch|nicht\s+richtig|faux|fausse|falso|incorrecto|неверно|неправильно)"
)
_SAID_FALSE = re.compile(
    rf"\b{_FALSE}\b|错|不对|不正确|不是|不成立|不可能|[✗✘❌]|\\(?:times|xmark)\s*\Z|\bn(?:icht|on)\b"
    r"|아니|틀|\bbut\s+(?:now|actually|in\s+fact|really)\b|\bat\s+first\b|\b(?:show|say|prove|suggest|tell|indicate)s?\s+otherwise\b|\bfirst\s+(?:guess|try|attempt|thought)\b|\b(?:wrong|mistaken)ly\b",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    rf"""\W*(?:
        (?:no|nope|nah|non|nein)\s*(?:[,.!;:—–…-]|\Z|\b(?:it|that|this|wait|the\s+answer)\b)
      | (?:wrong|incorrect|false|wait|oops|hmm|sorry|correction|scratch\s+that|hardly|never
          |on\s+(?:second\s+thoughts?|reflection|closer\s+inspection|further\s+thought|second\s+look)|just\s+kidding|not\s+(?:so|quite|really|right|correct|true|at\s+all)|ignore\s+that|strike\s+that|disregard)\b
      | (?:edit(?:ed)?|update|erratum)\s*[:：]
      | (?:or\s+(?:is|was|maybe|perhaps|rather)|actually|rather|i\s+mean)\b
      | (?:but|however|yet|though|still|unfortunately|clearly|obviously|of\s+course)?\W*(?:,\s*)?
        (?:this|that|it|which|the\s+(?:above|box|boxed|answer|result|value|last|previous)\b[\w\s]{{0,20}}|everything|all\s+of\s+(?:this|that))
        ['’\w\s]{{0,24}}?\b{_FALSE}\b
      | 不对|错了|不是|等等|这是错|其实 | [✗✘❌]
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_QUESTIONED = re.compile(r"[\s$*_}\])\\\"'”’]{0,8}(?:\([^()]{0,20}\))?[?？]")
_ASKED = re.compile(r"[^.!。！\n]{0,80}[?？]")
_ASIDE = re.compile(r"\((?:and )?not\s[^()]{1,40}\)|,?\s*(?:and )?not\s+[$\\(]{0,3}-?\d[\d.,/]*[$)]?", re.IGNORECASE)
_BECAUSE = re.compile(r"\b(?:because|since|as|while|whereas|where|when|for)\b")

_CHANGED_BEFORE = re.compile(
    r"""(?:(?<![\s*])[-+−*/^_×·÷±∓√¬<>≤≥≠%|] | (?<=[=\d)}])\s*[-+−/×·÷±]\s* | (?<![=\-\s])[<>]
      | [≤≥≠±∓√¬⩾⩽≮≯] | ~~
      | \\(?:times|cdot|div|pm|mp|leq?|geq?|leqslant|geqslant|lt|gt|neq?|not|sqrt|d?frac|tfrac|lnot|neg|ngeq|nleq|nless
          |ngtr|x?cancel|bcancel|sout|ll|gg|in|notin|propto|log|ln|sin|cos|tan|binom|overline|bar|left\|)\s*(?:\[[^\]]*\])?\s*\{?
      | \}\s*\{ )\Z""",
    re.VERBOSE,
)
_CHANGED_BEHIND = re.compile(
    r"""[\s}]*(?:
        (?:[+−×·÷±/<>≤≥≠^]|(?<!\*)\*(?!\*)|-)\s*[\d\\({]
      | \.\d
      | [*$)\]\\]{0,4},?\s+(?:plus|minus|times|and)\s+(?:\$|\\\()?\d | (?:\^|_|[≤≥≠×÷±]) | \+\s*(?:[.,;$]|\Z) | \d
      | \\(?:times|cdot|div|pm|mp|leq?|geq?|lt|gt|neq?|leqslant|geqslant|mod|bmod|pmod)(?![A-Za-z])
      | !\s*(?:\$|\\[)\]]) | ~~ )""",
    re.VERBOSE,
)
_LETTER_BEHIND = re.compile(r"([A-Za-z])(?![A-Za-z])")
_FACTOR = re.compile(
    r"\A(?:.*[=\s(])?(?:[\d.]+\s*|(?<![A-Za-z\\])[A-Za-z])\Z|[A-Za-z\d]\Z(?<![A-Za-z\\][A-Za-z])", re.DOTALL
)
_WRONG_LABEL = re.compile(
    r"(?:wrong|incorrect|false|bad|mistaken|erroneous|ignore|disregard|error|mistake|trap)(?:\s+\w+){0,2}\s*[:：]\s*\Z",
    re.IGNORECASE,
)
_LEFT_OPEN = re.compile(
    r"(?:\b(?:or|maybe|perhaps|possibly|presumably|either|oder|ou|might\s+be|could\s+be|may\s+be)|或者?|可能是?|也许是?)\s*\Z",
    re.IGNORECASE,
)
_MAY_BE = re.compile(
    r"[\s$*_}\])\\\"'”’,;]{0,8}(?:but|though|although|or)\s+(?:\w+\s+){0,2}(?:might|could|may)\s+(?:\w+\s+)?be\s+[$\\\d-]",
    re.IGNORECASE,
)
"""An alternative after an answer: "5, but it might be 6"."""
_OR_ELSE = re.compile(
    r"[.\s$*_}\])\\\"'”’,]{0,8}\bor\s+"
    r"(?!(?:so\s+)?(?:about|roughly|approximately|equivalently|simply|just|in|as|written|≈|\\approx)|[$\\\d-])"
)
_MATH_OPENERS = re.compile(r"(?:\$\$?|\\[(\[]|\\(?:displaystyle|left)(?![A-Za-z])|\\[,;:! ]|[ \n~])*\Z")


class Surroundings(NamedTuple):
    """The text around an answer.

    Attributes:
        before: The sentence up to the answer, without box and math delimiters.
        left: Like ``before``, but with the text right before the answer unchanged.
        behind: The reply from the answer's end on, as far as it may still refer to it.
    """

    before: str
    left: str
    behind: str


def surroundings(completion: str, answer: FinalAnswer) -> Surroundings:
    start, end = answer.start, answer.end
    if answer.how == "boxed" and (macro := _MACRO.search(completion, max(start - _MACRO_REACH, 0), start)):
        start = macro.start()
        closed = _CLOSED.match(completion, end)
        end = closed.end() if closed else end
    left = completion[max(reply_start(completion), start - _REACH_BEFORE, 0) : start]
    cuts = [cut.end() for cut in _SENTENCE.finditer(left)]
    left = left[cuts[-1] if cuts else 0 :]
    return Surroundings(_OPENERS.sub("", left), left, completion[end : end + _REACH])


def is_denied(around: Surroundings) -> bool:
    """Return whether the text calls the answer wrong, doubts it, asks for it, or retracts it."""
    return (
        _LEFT_OPEN.search(around.before) is not None
        or _is_denied_before(around.before)
        or _is_denied_after(around.behind)
        or _is_attributed(around)
    )


def is_retracted_later(reference: str, answer: str) -> bool:
    """Return whether a sentence that contains an answer retracts it afterwards: "Ann. Wait, Bea"."""
    at = answer.casefold().rfind(reference.casefold())
    return at >= 0 and _is_denied_after(answer[at + len(reference) :])


def is_part_of_formula(around: Surroundings) -> bool:
    r"""Return whether the answer is part of a larger formula: ``-\boxed{12}``, ``\boxed{12}+1``."""
    letter = _LETTER_BEHIND.match(around.behind)
    if letter is not None and unit(letter[1]) is None:
        return True
    if _FACTOR.search(around.left.rpartition("$")[2]):
        return True
    left = _MATH_OPENERS.sub("", around.left)
    return _CHANGED_BEFORE.search(left) is not None or _CHANGED_BEHIND.match(around.behind) is not None


def _last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def _is_denied_before(before: str) -> bool:
    if not before.strip():
        return False
    if _WRONG_LABEL.search(before):
        return True
    last = _last_match(_NEGATION, before)
    if last is None:
        return False
    between = before[last.end() :]
    if last["opinion"]:
        return _CLAUSE.search(between) is None
    pause = _BREAK.search(between)
    if pause is not None:
        return _ASSERTS.search(between, pause.start()) is None
    return _ASSERTS.search(between) is None or _OF_THE_ANSWER.search(between) is not None


def _is_attributed(around: Surroundings) -> bool:
    """Return whether an answer is only attributed to others: "some say 12", or "Ann got 12, but she miscounted"."""
    behind = around.behind[:_OTHERS_REACH]
    if _SAID_BEHIND.match(behind):
        return _ERRS.search(behind) is not None
    said = _last_match(_SAID_BY, around.before) if around.before.strip() else None
    if said is None or _SPEAKER.search(around.before, 0, said.start()):
        return False
    if _CONCLUDES.search(around.before, said.end()):
        return False
    return _BY_OTHERS.search(around.before[: said.start()]) is not None or _ERRS.search(behind) is not None


def _is_denied_after(behind: str) -> bool:
    if not behind.strip():
        return False
    if _QUESTIONED.match(behind) or _OR_ELSE.match(behind) or _MAY_BE.match(behind):
        return True
    parts = _SENTENCE.split(behind, maxsplit=4)
    first = parts[0].split("\n\n", 1)
    rest = _BECAUSE.split(_ASIDE.sub("", first[0]), maxsplit=1)[0]
    if _SAID_FALSE.search(rest) or (_ASKED.match(behind) and len(parts[0]) < _SHORT_QUESTION):
        return True
    return any(_WITHDRAWN.match(part) for part in [*first[0].split("\n")[1:], *first[1:], *parts[1:]])


_SHORT_QUESTION = 40
