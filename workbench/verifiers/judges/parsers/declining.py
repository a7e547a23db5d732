"""Detect that a judge declines to judge, or states that it can't decide: a stray Yes or No is then no verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Declined = Literal["refused", "undecided"]
_NEAR: Final = 400
"""Characters at either end of a long reply that are examined: in between a judge discusses the completion."""
_APOSTROPHES = str.maketrans(dict.fromkeys("’‘ʼ`´′＇", "'"))


class _DecliningPattern(NamedTuple):
    """A way of declining.

    Attributes:
        pattern: The pattern within a line.
        holds: Lower-case literals; a line without any of them can't match. Finding none takes a hundredth of the time
            of the pattern.
        beyond_ascii: Whether a line with a non-ASCII letter may match, too.
    """

    pattern: re.Pattern[str]
    holds: tuple[str, ...]
    beyond_ascii: bool = False

    def matches(self, lines: Iterable[tuple[str, str]]) -> bool:
        return any(
            self.pattern.search(line) is not None
            for line, small in lines
            if any(word in small for word in self.holds) or (self.beyond_ascii and not line.isascii())
        )


def _any_of(words: str) -> tuple[str, ...]:
    return tuple(words.split("|"))


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
_NEGATIONS: Final = _any_of("not|n't|cant|wont|dont|n'o|wouldnt|unable|declin|refus|prohibited")
_REFUSES: Final = (
    _DecliningPattern(
        re.compile(rf"(?:{_I}|{_BEGINS}){_CANNOT}{_FILLER}[ \t]+{_HELP}", re.IGNORECASE | re.MULTILINE), _NEGATIONS
    ),
    _DecliningPattern(re.compile(rf"{_I}{_CANNOT}{_FILLER}[ \t]+{_DO}", re.IGNORECASE), _NEGATIONS),
    _DecliningPattern(re.compile(rf"{_I}{_CANNOT}[ \t]*(?:[.!?]|$)", re.IGNORECASE | re.MULTILINE), _NEGATIONS),
    _DecliningPattern(
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
            r"|\b(?:i'?m|i am|we'?re) (?:very |so |really |terribly |truly )?sorry\b[ \t]*[,;.!-]"
            r"|\bi apologi[sz]e,? but\b"
            r"|^[ \t]*(?:no,? )?(?:sorry|(?:my )?apologies)[ \t]*[,;.!-]|\b(?:not something (?:that )?i can"
            r"|i'?d rather not)\b"
            r"|^[ \t]*no (?:comment|thanks|thank you)\b",
            re.IGNORECASE | re.MULTILINE,
        ),
        _any_of(
            "declin|refus|as a|against|violat|sorry|apolog|something|rather not|no comment|no thank"
            "|flagged|blocked|rejected|filtered"
        ),
    ),
    # Chinese, Japanese, Korean.
    _DecliningPattern(
        re.compile(
            r"(?:我|我们|我們|本人)[^。\n]{0,6}(?:无法|無法|不能|不可以|没法|不便|拒绝|拒絕)[^。\n]{0,8}"
            r"(?:协助|協助|帮|幫|提供|回答|满足|滿足|评判|评价|评估|评分|完成|做)"
            r"|^[ \t]*(?:非常|很|真的)?(?:抱歉|对不起|對不起)|无法(?:协助|帮助|提供帮助|回答(?:这|该|你|您)|满足)"
            r"|申し訳|お(?:手伝い|答え|応え)[^。\n]{0,6}(?:できません|できかね)|お断り|(?:回答|対応|判断)[^。\n]{0,8}(?:できません|できかね)"
            r"|죄송|도와드릴 수 없|답변(?:을|해)?[^.\n]{0,8}(?:할 수 없|드릴 수 없|어렵)"
        ),
        (),
        beyond_ascii=True,
    ),
    # German, Dutch, French, Spanish, Italian, Portuguese.
    _DecliningPattern(
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
        _any_of(
            "ich kann|kann ich|ich darf|darf ich|ich werde|tut mir|entschuldigung|ik kan|spijt|je |puedo|podemos"
            "|es posible|soy capaz|estoy autor|siento|lamento|posso|possiamo|sono in grado|spiace|sinto muito|desculpe"
        ),
        beyond_ascii=True,
    ),
    # Russian, Ukrainian, Polish, Czech, Turkish, Vietnamese, Arabic, Hindi, Indonesian, Swedish.
    _DecliningPattern(
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
        _any_of("nie mog|przepraszam|przykro|nemohu|cevaplayam|saya |kami |maaf|jag kan"),
        beyond_ascii=True,
    ),
)
_CANNOT_TELL: Final = _DecliningPattern(
    re.compile(
        rf"{_I}{_CANNOT}{_FILLER}[ \t]+(?:(?:sure|certain|tell|say|decide|determine|conclude|know|verify|confirm"
        rf"|establish)\b"
        r"|(?:reach|draw|form|come to|make) (?:an?|any|the) (?:judge?ment|verdict|conclusion|decision|determination))"
        r"|\b(?:it is|it's) (?:impossible|not possible) to (?:tell|say|decide|determine|know|judge|verify)\b"
        r"|\b(?:can ?not|can'?t) be (?:determined|decided|judged|verified|established|told|assessed)\b"
        r"|\b(?:i'?m|i am|we are) (?:not|un)[ -]?(?:sure|certain)\b|\bi have no (?:idea|way)\b"
        r"|\bnot enough information\b"
        r"|无法(?:判断|确定|验证|判定)|無法(?:判斷|確定)|判断できません|판단할 수 없"
        # A judge that asks for the text to judge has not judged it.
        r"|\bplease (?:provide|paste|share|send|supply|upload|submit|attach|give me|tell me|include)\b"
        r"|\b(?:can|could|would|will) you (?:please |kindly )?"
        r"(?:provide|paste|share|send|supply|upload|attach|clarify)\b"
        r"|\b(?:i'?ll|i will|i'?d|i would|i am|i'?m) (?:[a-z]+ ){0,2}(?:happy|glad|ready|here) to "
        r"(?:help|assist|grade|judge|evaluate|check)\b"
        r"|\bi can (?:certainly |definitely |absolutely )?(?:help|assist)\b|\bhappy to (?:help|assist)\b"
        r"|^[ \t]*no (?:problem|worries)\b[ \t]*[.,!]",
        re.IGNORECASE | re.MULTILINE,
    ),
    (
        *_NEGATIONS,
        *_any_of(
            "impossible|sure|certain|no idea|no way|no problem|no worries|please| you |i can |happy|glad|ready|here to"
        ),
    ),
    beyond_ascii=True,
)


@lru_cache(maxsize=4)
def declined_in(text: str) -> Declined | None:
    """Return whether a judge's own words refuse, or state that it can't decide; None if they do neither."""
    text = text.translate(_APOSTROPHES)
    ends = text if len(text) <= 2 * _NEAR else f"{text[:_NEAR]}\n\n{text[-_NEAR:]}"
    lines = [(line, line.lower()) for line in ends.split("\n")]
    if any(telling.matches(lines) for telling in _REFUSES):
        return "refused"
    # In a long examination a doubt may be about one step; the verdict then has a separate line.
    return "undecided" if _CANNOT_TELL.matches(lines[-1:] if len(text) > _NEAR else lines) else None
