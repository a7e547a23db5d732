"""What a parser is and what it returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, Literal, TypeVar

from msgspec import Struct

from workbench.llm.records import Ending
from workbench.verifiers.judges.parsers.thoughts import is_cut_off, spoken

# -- The judge's own words in a reply: without thinking, fenced echoes and what it quotes.


Found = TypeVar("Found")
JUDGMENT = r"final[ \t*_]{1,6}judge?ment[ \t*_`]{0,6}[:：]"
"""The label of a verdict line, in either spelling; for use without regard to case."""
MARKUP = " \t*_`#[](){}<>$.,;:!-–—•|~\\"
"""What may stand around a bare verdict."""
_QUOTES = "\"'“”‘’«»"
_SPAN = re.compile(r'"[^"]{0,400}"|“[^”]{0,400}”|«[^»]{0,400}»|`[^`]{1,400}`')
_LABEL_ALONE = re.compile(rf"({JUDGMENT}[ \t*_`]{{0,6}})(?:\r?\n)[ \t\r\n]*", re.IGNORECASE)
_LINE_START = 8
_ASKED_ABOUT: Final = 4
"""Replies that are remembered: several ask the same of one, and soon after each other."""
# What marks turns and their parts: <|end|> <|return|> <|open|>response<|sep|>
_TURN = re.compile(r"<\|(?:open|close)\|>\w{1,20}<\|sep\|>|<\|\w{1,40}\|>")


def own_lines(raw: str, delimiter: str | None) -> list[str]:
    """The lines in which a judge speaks for itself, none of them blank.

    Args:
        raw: The reply as recorded.
        delimiter: The fence around untrusted text in the request, if there was one.
    """
    return list(_own_lines(raw, delimiter))


@lru_cache(maxsize=_ASKED_ABOUT)
def _own_lines(raw: str, delimiter: str | None) -> tuple[str, ...]:
    text = _LABEL_ALONE.sub(r"\1 ", _TURN.sub(" ", own_text(raw, delimiter)).strip())
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith(">")]
    if len(lines) == 1:
        lines = [lines[0].strip().strip(_QUOTES)]
    return tuple(kept for line in lines if (kept := _without_quotations(line)).strip())


def own_text(raw: str, delimiter: str | None) -> str:
    """What a reply says of its own: no thoughts, nothing before data that it repeats; arguments as with `own_lines`."""
    start, end = spoken(raw, delimiter)
    text = raw[start:end]
    return text[text.rfind(delimiter) + len(delimiter) :] if delimiter and delimiter in text else text


def last_found(lines: list[str], read: Callable[[str], Found | None]) -> Found | None:
    """What ``read`` finds in the last line in which it finds something."""
    for line in reversed(lines):
        found = read(line)
        if found is not None:
            return found
    return None


def chosen(pattern: re.Pattern[str], line: str) -> str | None:
    """The first group of the match a line begins with, markup aside, else of the last one in it."""
    leading = pattern.match(line.lstrip(MARKUP))
    if leading:
        return leading[1]
    found = [match[1] for match in pattern.finditer(line)]
    return found[-1] if found else None


def _without_quotations(line: str) -> str:
    """A line without its quotations; one word alone, at the start or behind a colon, is no quotation."""

    def kept(span: re.Match[str]) -> str:
        before = line[max(0, span.start() - _LINE_START) : span.start()].rstrip(MARKUP.replace(":", ""))
        stands_alone = before.endswith(":") or (not before and span.start() < _LINE_START)
        is_code = span[0][0] == "`" and span.end() == len(line.rstrip(MARKUP.replace("`", "")))
        return span[0] if stands_alone and (is_code or " " not in span[0]) else " "

    return _SPAN.sub(kept, line)


# -- Whether a judge declines to judge, or says that it can't tell: then a stray Yes or No in its words is no
# verdict.


Declined = Literal["refused", "undecided"]
_NEAR: Final = 400
"""Characters at either end of a long reply that are looked at: in between a judge discusses what it judges."""
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`´′＇", "'"))
_CANNOT = (
    r"(?:(?:can ?not|can'?t) and (?:will not|won'?t)|can ?not|can'?t|could ?n[o']t|could not|won'?t|will not"
    r"|would not|wouldn'?t|do not|don'?t|must not|may not"
    r"|(?:am |are )?(?:not (?:able|(?:feel(?:ing)? )?allowed|permitted|going|willing|(?:feel(?:ing)? )?comfortable"
    r"|authori[sz]ed|programmed|designed"
    r"|in a position)|unable)(?: to| with)?|(?:must |have to |will |would )?(?:respectfully |politely )?"
    r"(?:decline|refuse)(?: to)?|am prohibited from)"
)
_FILLER = (
    r"(?:[ \t,]+(?:just|really|simply|currently|therefore|ethically|legally|possibly|be able to|be|to"
    r"|in good conscience"
    r"|in this case|directly|further)){0,3},?"
)
_HELP = r"(?:help|assist|comply|fulfil|engag(?:e|ing)|participat(?:e|ing)|cooperate)(?:l|ing|ling)?\b"
_THIS = r"(?:that|this|these|such|it|so|you|your|an?|any|the|information|assistance|help|content|judge?ments?|advice)"
_DO = (
    r"(?:(?:do|doing|complet(?:e|ing)|answer(?:ing)?|perform(?:ing)?|carry(?:ing)? out|respond(?:ing)? to"
    r"|continu(?:e|ing)(?: with)?|support(?:ing)?|discuss(?:ing)?|process(?:ing)?) "
    r"(?:that|this|it|so|your|the (?:request|task|question))"
    rf"|(?:provid(?:e|ing)|offer(?:ing)?|giv(?:e|ing)|produc(?:e|ing)|generat(?:e|ing)|shar(?:e|ing)"
    rf"|answer(?:ing)?) {_THIS}\b"
    r"|mak(?:e|ing) (?:an?|any|this|that|such) (?:judge?ment|determination|decision|evaluation|assessment)"
    r"|(?:judg|grad|evaluat|assess|review|analy[sz]|rat)(?:e|ing|)(?:[ \t]+(?:this|that|these|it|your|such|whether"
    r"|(?:the|any) (?:answer|solution|response|submission|code|completion|request|content|text|material))\b"
    r"|[ \t]*[.!]))"
)
_I = (
    r"\b(?:i|we)(?:'?(?:m|re|d|ll))?[ \t]+(?:(?:am|are|also|really|just|simply|do|regret that i"
    r"|, [a-z ]{1,30},)[ \t]+)?"
)
_BEGINS = r"(?:^|[.!?]|^[ \t]*(?:no|yes|sorry|unfortunately)[,.!:-])[ \t]*"
_REFUSES: Final = (
    re.compile(rf"(?:{_I}|{_BEGINS}){_CANNOT}{_FILLER}[ \t]+{_HELP}", re.IGNORECASE | re.MULTILINE),
    re.compile(rf"{_I}{_CANNOT}{_FILLER}[ \t]+{_DO}", re.IGNORECASE),
    re.compile(rf"{_I}{_CANNOT}[ \t]*(?:[.!?]|$)", re.IGNORECASE | re.MULTILINE),
    re.compile(
        r"\bi (?:(?:must|have to|will|would|need to) )?(?:respectfully |politely )?(?:decline|refuse)(?: to\b"
        r"|[ \t]*[.,;!])"
        r"|\bas an? (?:ai|artificial intelligence|(?:large )?language model)\b[^.\n]{0,60}\b(?:can ?not|can'?t"
        r"|unable|not able)"
        r"|\bagainst (?:my|our|the) (?:(?:safety|content|usage) )?(?:guidelines|polic(?:y|ies)|programming"
        r"|principles)\b"
        r"|\bagainst policy\b"
        r"|\b(?:this|the|your) (?:request|prompt|message|input|conversation) (?:was|is|has been|got) "
        r"(?:flagged|blocked|rejected|declined|filtered)\b"
        r"|\bviolat(?:e|es|ing) (?:my|our|the|openai's|usage|content|safety) [^.\n]{0,30}(?:polic|guideline)"
        r"|\b(?:i'?m|i am|we'?re) (?:very |so |really |terribly |truly )?sorry\b[ \t]*[,;.!-]|\bi apologi[sz]e,? but\b"
        r"|^[ \t]*(?:no,? )?(?:sorry|(?:my )?apologies)[ \t]*[,;.!-]|\b(?:not something (?:that )?i can"
        r"|i'?d rather not)\b"
        r"|^[ \t]*no (?:comment|thanks|thank you)\b",
        re.IGNORECASE | re.MULTILINE,
    ),
    # Chinese, Japanese, Korean.
    re.compile(
        r"(?:我|我们|我們|本人)[^。\n]{0,6}(?:无法|無法|不能|不可以|没法|不便|拒绝|拒絕)[^。\n]{0,8}"
        r"(?:协助|協助|帮|幫|提供|回答|满足|滿足|评判|评价|评估|评分|完成|做)"
        r"|^[ \t]*(?:非常|很|真的)?(?:抱歉|对不起|對不起)|无法(?:协助|帮助|提供帮助|回答(?:这|该|你|您)|满足)"
        r"|申し訳|お(?:手伝い|答え|応え)[^。\n]{0,6}(?:できません|できかね)|お断り|(?:回答|対応|判断)[^。\n]{0,8}(?:できません|できかね)"
        r"|죄송|도와드릴 수 없|답변(?:을|해)?[^.\n]{0,8}(?:할 수 없|드릴 수 없|어렵)"
    ),
    # German, Dutch, French, Spanish, Italian, Portuguese.
    re.compile(
        r"\b(?:ich kann|wir können|kann ich|ich darf|darf ich|ich werde)\b[^.\n]{0,40}\b(?:nicht|keine?n?|leider)\b"
        r"[^.\n]{0,40}\b(?:helfen|beurteilen|bewerten|beantworten|unterstützen|geben|weiterhelfen|behilflich|erfüllen)"
        r"|\b(?:es )?tut mir (?:sehr )?leid\b|\bentschuldigung[,.]"
        r"|\bik kan\b[^.\n]{0,40}\b(?:niet|geen)\b[^.\n]{0,30}\b(?:helpen|beoordelen|beantwoorden|geven)"
        r"|\bhet spijt me\b"
        r"|\bje (?:ne )?(?:peux|suis|saurais|dois|vais)\b[^.\n]{0,20}\bpas\b[^.\n]{0,40}"
        r"\b(?:aider|répondre|évaluer|juger|fournir|assister|faire|en mesure)|\bje suis (?:vraiment )?désolée?\b"
        r"|\bdésolée?[,.]|\bje (?:dois )?refuse"
        r"|\bno (?:puedo|podemos|me es posible|soy capaz de|estoy autorizad[oa])\b[^.\n]{0,40}"
        r"\b(?:ayud|respond|evalu|juzg|proporcion|asist|hacer|cumpl)|\blo siento\b|\blo lamento\b"
        r"|\bnon (?:posso|possiamo|sono in grado)\b[^.\n]{0,40}\b(?:aiut|rispond|valut|giudic|forn|assist|far)"
        r"|\bmi (?:di)?spiace\b"
        r"|\bnão (?:posso|podemos|consigo|sou capaz)\b[^.\n]{0,40}\b(?:ajud|respond|avali|julg|fornec|auxili|faz)"
        r"|\b(?:sinto muito|lamento|desculpe)\b",
        re.IGNORECASE,
    ),
    # Russian, Ukrainian, Polish, Czech, Turkish, Vietnamese, Arabic, Hindi, Indonesian, Swedish.
    re.compile(
        r"\b(?:я )?не (?:могу|можу|буду|в состоянии)\b[^.\n]{0,40}(?:помо|допомо|ответ|відпов|оцен|оцін|предостав"
        r"|выполн|суд)"
        r"|\b(?:извините|простите|вибачте)\b"
        r"|\bnie mog[ęe]\b[^.\n]{0,40}(?:pom|odpowied|oceni|udziel)|\bprzepraszam\b|\bprzykro mi\b"
        r"|\bnemohu\b[^.\n]{0,40}(?:pomo|odpov|posoud|hodnot)|\bomlouvám se\b"
        r"|yardımcı olam|yanıtlayam|cevaplayam|değerlendirem|\büzgünüm\b"
        r"|\b(?:tôi|mình) không thể\b[^.\n]{0,20}(?:giúp|hỗ trợ|trả lời|đánh giá)|\bxin lỗi\b"
        r"|لا أستطيع|لا يمكنني|عذر|آسف|أعتذر"
        r"|(?:मदद|सहायता|उत्तर|मूल्यांकन)[^।\n]{0,20}नहीं|क्षमा करें|माफ़? कीजिए"
        r"|\b(?:saya|kami) tidak (?:dapat|bisa)\b[^.\n]{0,20}(?:membantu|menjawab|menilai)|\bmaaf,"
        r"|\bjag kan (?:tyvärr )?inte\b[^.\n]{0,30}(?:hjälpa|svara|bedöma)",
        re.IGNORECASE,
    ),
)
_CANNOT_TELL: Final = re.compile(
    rf"{_I}{_CANNOT}{_FILLER}[ \t]+(?:(?:sure|certain|tell|say|decide|determine|conclude|know|verify|confirm"
    rf"|establish)\b"
    r"|(?:reach|draw|form|come to|make) (?:an?|any|the) (?:judge?ment|verdict|conclusion|decision|determination))"
    r"|\b(?:it is|it's) (?:impossible|not possible) to (?:tell|say|decide|determine|know|judge|verify)\b"
    r"|\b(?:can ?not|can'?t) be (?:determined|decided|judged|verified|established|told|assessed)\b"
    r"|\b(?:i'?m|i am|we are) (?:not|un)[ -]?(?:sure|certain)\b|\bi have no (?:idea|way)\b|\bnot enough information\b"
    r"|无法(?:判断|确定|验证|判定)|無法(?:判斷|確定)|判断できません|판단할 수 없"
    # Who asks for what is to be judged has not judged it.
    r"|\bplease (?:provide|paste|share|send|supply|upload|submit|attach|give me|tell me|include)\b"
    r"|\b(?:can|could|would|will) you (?:please |kindly )?(?:provide|paste|share|send|supply|upload|attach|clarify)\b"
    r"|\b(?:i can|i'?ll|i will|i'?d be|i am|i'?m|let me) (?:[a-z]+ ){0,2}(?:happy|glad|ready|here) to "
    r"(?:help|assist|grade|judge|evaluate|check)\b",
    re.IGNORECASE | re.MULTILINE,
)


def declined(lines: Sequence[str]) -> Declined | None:
    """Whether a judge refuses, or says that it can't tell; None where it does neither.

    Args:
        lines: Its own words, as `own_lines` gives them.
    """
    text = "\n".join(line.strip(MARKUP.replace(".", "")) for line in lines).translate(_APOSTROPHES)
    return _declined(text)


@lru_cache(maxsize=_ASKED_ABOUT)
def _declined(text: str) -> Declined | None:
    ends = text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]}\n\n{text[-_NEAR:]}"
    if any(pattern.search(ends) for pattern in _REFUSES):
        return "refused"
    # In a long examination a doubt may be about one of its steps; the verdict has a line of its own there.
    last = ends.rpartition("\n")[2] if len(text) > _NEAR else ends
    return "undecided" if _CANNOT_TELL.search(last) else None


ParsedVerdict = Literal["correct", "incorrect", "abstain"]
NoVerdict = Literal["unparsed", "truncated", "refused", "content_filter", "invalid"]
"""Why there is none: nothing in the judge's form; the reply never came to its end; the judge declines to judge; a
filter has taken its words; the judge calls the completion invalid."""
Read = Callable[[str, str | None], "Reading"]
"""Takes a reply and the fence around untrusted text in its request."""


class Reading(Struct, frozen=True):
    """What a judge's reply says.

    Attributes:
        score: ICE-Score's number as the parser read it, from 0 to 4; a fault list's, from 0 to 1.
        label: CompassVerifier's A (correct), B (incorrect) or C (invalid); what a fault list holds, in words.
        reason: Why the verdict is "abstain"; None with a verdict.
    """

    verdict: ParsedVerdict
    score: float | None = None
    label: str | None = None
    reason: NoVerdict | None = None


class Parser(Struct, frozen=True):
    """One version of one family's parser.

    Attributes:
        read: What a whole reply says.
        labelled: What a verdict behind its label says, in a reply of which nothing else counts: it was cut short, or
            its author declines to judge. None for upstream's parsers, which read all replies alike.
        in_words: Whether a verdict may be a word of a sentence, so that "I can't tell. No working is shown." is none.
    """

    name: str
    version: int
    read: Read
    labelled: Read | None = None
    in_words: bool = False

    @property
    def id(self) -> str:
        """Name and version, as results state it."""
        return f"{self.name}@{self.version}"

    @property
    def is_strict(self) -> bool:
        """Whether it tells replies apart by how they end; upstream's parsers don't."""
        return self.labelled is not None

    def parse(self, raw: str, delimiter: str | None = None, ended: Ending = "whole") -> Reading:
        """Read one reply.

        Args:
            raw: The reply as recorded.
            delimiter: The fence that stood around untrusted text in the request. Strict parsers read only what follows
                its last echo; upstream's parsers know no fences.
            ended: How the reply ended. Of one that didn't come to its end, or says that there will be no verdict,
                strict parsers take a verdict behind its label alone.
        """
        is_cut = is_cut_off(raw, delimiter)
        if self.labelled is None:
            reading = self.read(raw, delimiter)
            return Reading("abstain", reason="truncated") if is_cut and reading.reason == "unparsed" else reading
        lines = own_lines(raw, delimiter)
        why: NoVerdict | None = ended if ended != "whole" else "truncated" if is_cut else None
        if why is None:
            says = declined(lines)
            why = "refused" if says == "refused" else "unparsed" if says and self.in_words else None
        if why is None:
            return self.read(raw, delimiter)
        reading = self.labelled(raw, delimiter)
        if reading.reason in (None, "invalid") or why == "unparsed":
            return reading
        return Reading("abstain", reason=why)


def said(correct: bool | None) -> Reading:
    """The reading of a yes, a no, or neither."""
    if correct is None:
        return Reading("abstain", reason="unparsed")
    return Reading("correct" if correct else "incorrect")
