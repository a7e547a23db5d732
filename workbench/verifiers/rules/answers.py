"""Both final answers of an item, as the rules read them: which texts count as an answer and which never do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from json import JSONDecodeError
from typing import NamedTuple

from workbench.core.final_answer import (
    MAX_ANSWER,
    FinalAnswer,
    How,
    boxed_spans,
    completion_answer,
    is_all_thought,
    last_sentence,
    reference_answer,
    reply_start,
    strip_answer,
)
from workbench.verifiers.rules.conclusions import GIVES_NUMBER, sentences
from workbench.verifiers.rules.patterns import MAX_CACHED_CHARACTERS, Lexicon
from workbench.verifiers.rules.sense import LONG_WORD, has_change_word
from workbench.verifiers.rules.structure import MAX_PARTS
from workbench.verifiers.rules.units import MAX_UNIT, unit, unit_behind

_ENVELOPES = Lexicon("envelopes")
_TAGGED = re.compile(r"<(answer|final_answer|final)>\s*((?:(?!</?\1>).)*?)\s*</\1>", re.DOTALL | re.IGNORECASE)
_ONLY_KEY = re.compile(r'^\s*\{\s*"([^"\n]{1,40})"\s*:\s*', re.MULTILINE)
"""The key of an object that begins a line; it is the answer's if the object has no other."""
_ANY_KEY = re.compile(r'"\s*:\s*\Z')
_KEY_REACH = 40
_UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]{2}")
"""A macro with an unescaped backslash, which JSON reads as a control character."""
_JSON_VALUE = re.compile(
    r'"\s*(?P<string>(?:[^"\\]|\\.)*?)\s*"|(?!null\b)(?P<other>\[[^{}:]*\]|[^\s"\[\]{},][^"\[\]{},]*?)\s*(?=[,}])',
    re.DOTALL,
)
_OBJECT_END = re.compile(r"\}\s*(?:`{3}\s*)?\Z")
_MAX_CHARACTERS = 2_000
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")


def answer_in_envelope(completion: str, start: int) -> FinalAnswer | None:
    """Return the answer in the last ``<answer>`` tags, or under the key of a JSON object at the reply's end."""
    return _from_tags(completion, start) or _from_json(completion, start)


def unpack_json(completion: str, answer: FinalAnswer) -> str:
    """Return an answer's text without JSON syntax: without the escapes of a string or the brackets of a list of
    values."""
    if completion[answer.start - 1 : answer.start] not in ('"', ":", " "):
        return answer.text
    in_object = _ANY_KEY.search(completion, max(answer.start - _KEY_REACH, 0), answer.start) is not None
    if answer.text.startswith("[" if in_object else '["') and "[" not in answer.text[1:]:
        return answer.text[1:-1].replace('"', "")
    if "\\" not in answer.text or completion[answer.start - 1] != '"' or _UNESCAPED.search(answer.text):
        return answer.text
    try:
        text = json.JSONDecoder(strict=False).decode(f'"{answer.text}"')
    except JSONDecodeError:
        return answer.text
    return text if isinstance(text, str) else answer.text


def closing_line(line: str) -> bool:
    """Return whether a line is only a closing courtesy: "Hope this helps!", "希望对你有帮助！"."""
    if _RULE.fullmatch(line):
        return True
    if len(line) > _LINE or "\\boxed" in line or line[-1:].isdigit():
        return False
    return _ENVELOPES.courtesy.fullmatch(line) is not None and _ENVELOPES.turn.search(line) is None


_LINE = 240


def _from_tags(completion: str, start: int) -> FinalAnswer | None:
    if "</" not in completion[-_LINE:]:
        return None
    begin = max(start, len(completion) - _MAX_CHARACTERS)
    found = [tag for tag in _TAGGED.finditer(completion, begin) if tag[2]]
    return FinalAnswer(found[-1][2], *found[-1].span(2), "cue") if found else None


def _from_json(completion: str, start: int) -> FinalAnswer | None:
    if not completion[-_LINE:].rstrip().endswith(("}", "`")):
        return None
    if _OBJECT_END.search(completion, max(start, len(completion) - _LINE)) is None:
        return None
    keys = [key.end() for key in _ENVELOPES.key.finditer(completion, max(start, len(completion) - _MAX_CHARACTERS))]
    keys = keys or _only_key(completion, start)
    found = _JSON_VALUE.match(completion, keys[-1]) if keys else None
    if found is None:
        return None
    group = "string" if found["other"] is None else "other"
    return FinalAnswer(found[group], *found.span(group), "cue") if found[group] else None


def _only_key(completion: str, start: int) -> list[int]:
    for key in reversed(list(_ONLY_KEY.finditer(completion, max(start, len(completion) - _MAX_CHARACTERS)))):
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(completion, completion.index("{", key.start()))
        except (JSONDecodeError, RecursionError):
            return []
        return [key.end()] if len(found) == 1 and not has_change_word(key[1].replace("_", " ")) else []
    return []


# -- Both final answers of an item, as the rules read them: which texts count as an answer and which never do.


_DATA = Lexicon("answers")
_BOX = re.compile(r"\\f(?:rame)?box\{|\\boxed\{")
_HIDING = {"~": ("~~",), "%": (" % ",), "<": ("<!--", "</s>", "</del>", "</strike>")}
_HIDDEN_REACH = 6_000
"""Characters at a completion's end that are searched for hidden text."""
_HIDDEN = re.compile(
    r"<!--.*?-->|(?<=[.$]) +% [^\n]*|(?<!~)~~(?![\s~])[^~\n]{1,400}~~(?!~)"
    r"|(?<=\w) +% [^\n]*(?=\n(?:[^\n]*\n){0,6}?[ \t]*\\end\{)|(?!\A<s>)<(s|del|strike)>[^<\n]{1,400}</\1>",
    re.DOTALL | re.IGNORECASE,
)
_NOTHING = re.compile(r"(?:\\(?:boxed|fbox)\s*\{\s*\}|[\s.,:;*_`$])*")
_SUB_QUESTIONS = re.compile(r"\(\s*(?:2|b|ii|II|Ⅱ)\s*\)|（2）|②|\\text\{\(2\)\}")
_STATED = re.compile(r"(?:[=≈:]|\\approx|\bis\b|\bare\b)(?=([^=≈:\n$]{1,80}))")
"""The start of the text after a sign or verb; overlapping, so that each value of ``a = b = c`` is found."""
_STATED_END = re.compile(r"\\\)|\\\]|[.;](?=\s|$)")
_A_LABEL = re.compile(r"\((?:[A-Ha-h]|[IVXivx]{1,4})\)")
_AN_OPTION = re.compile(r"\W{0,3}[A-Z]\s*[.:)、．：]")
_ITEM = re.compile(r"\s{0,8}(?:(?:\d{1,2}[.)]|[-*•])\s+|\$?[a-z](?:_\{?\d{1,2}\}?|[₀-₉]{1,2})\s*=\s*)(\S.{0,120})")
_TURN_MARKS = {"<": ("<|", "</s>", "<｜"), "[": ("[/INST]",)}
_FENCE = re.compile(r"`{3,}\w*")
# A line that only explains the formula above it is no answer: "where g is the acceleration".
_SHORT_UNIT = 3
_SHORT_UNITS = frozenset({"mm", "cm", "km", "mg", "kg", "ml", "mL"})
"""Short words behind a box that can only be units: "in" and "a" can be others."""
_ANOTHER = re.compile(r"\d|\b[A-Z]\b|\*\*|\$")
_REVISED_WITHIN = 300
_FORMULA_END = re.compile(r"(?:\\\]|\$\$)\s*\Z")
_FEW_WORDS = 2
_STATEMENT = 80
"""Maximum characters of a completion that is only its answer; a longer one is an argument that ends with it."""
_FORMULA = re.compile(r"(?<!\\)\$[^$\n]{1,200}\$")
_ONLY_BLOCK = re.compile(r"\s*`{3}\w*\n(?P<output>[^`]{1,400})\n`{3}[^`]*")
_CLOSING_REMARK = re.compile(
    r"(?<=[.!?])\s+\((?=[A-Z])(?![^()\n]*\b(?i:answers?|results?|so|thus|hence|therefore|but|however|actually|instead|correct\w*"
    r"|wait|should|really)\b)[^()\n]*\)\Z"
)
"""A last sentence in brackets that concludes and corrects nothing."""
_GOES_ON = re.compile(
    r"[^.!?\n]{0,40}?\b(?:so|thus|hence|therefore|giv(?:es|ing)|yield(?:s|ing))\b(?P<result>[^!?\n]*\d[^!?\n]*)"
)
_BELONGS = re.compile(
    r"\s?(?!(?:so|thus|hence|then|but|is|are|was|equals|becomes|giv(?:es|ing)|yields)\b)[A-Za-zµΩ°/·*]{0,8}\s?|[\s,;(]*(?:(?:and|or|where|with|for)(?:\s+(?:all|any|some|every|each))?(?:\s+integers?)?|[,;(]|[=≈])[\s,]*"
)
"""Text that may be between two formulas that are one answer: a unit, "or", "where", a comma."""
_INITIAL = re.compile(r"(?<![^\W\d_])[A-Z]\Z")
_NAME_END = re.compile(r"(?<=[^\W\d_]{2})[.!?](?=\s)")
_PICTURES = "\u2fff"
_PICTURE = re.compile("[\\s\ufe0f\u200d.!\U0001f300-\U0001f44d\U0001f44f-\U0001f645\U0001f647-\U0001faff]+\\Z")
_LEADS = re.compile(r"\*\*(?:[,.]|\s+(?:because|since|as)\b)")
_GAP = 20
_ECHO = 30
_MAX_REPEATED = 200
_STATED_WITHIN = 1_500
_MAX_STATED = 12
_MAX_WORKED_REFERENCE_CHARACTERS = 8_000
_MAX_PARTS = 8
_MAX_LINE_CHARACTERS = 2_000


class Answers(NamedTuple):
    """The answers to compare.

    Attributes:
        reference: The reference's final answer and its position.
        parts: Its parts in order if it has several, else its text.
        candidate: The completion's final answer and its position.
        sentence: The line of the final answer.
    """

    reference: FinalAnswer
    parts: tuple[str, ...]
    candidate: FinalAnswer
    sentence: str


def without_hidden(completion: str) -> str:
    """Return a completion with blanks in place of text at its end that is struck out or a comment; offsets stay."""
    begin = max(len(completion) - _HIDDEN_REACH, 0)
    if not _has_any(_HIDING, completion, begin):
        return completion
    return completion[:begin] + _HIDDEN.sub(lambda hidden: " " * len(hidden[0]), completion[begin:])


def _has_any(marks: dict[str, tuple[str, ...]], text: str, start: int) -> bool:
    """Return whether a text has a mark; one sign that each of a group has is found much faster than the marks are."""
    return any(
        text.rfind(sign, start) >= 0 and any(text.rfind(mark, start) >= 0 for mark in group)
        for sign, group in marks.items()
    )


def answers(question: str, reference: str, completion: str, subtype: str | None) -> Answers:
    final = _reference_final if len(reference) <= MAX_CACHED_CHARACTERS else _reference_final.__wrapped__
    expected = final(reference, subtype)
    given = _candidate_final(question, completion)
    return Answers(expected, _reference_parts(question, reference, expected), given, _line_of(completion, given))


@lru_cache(maxsize=256)
def _reference_final(reference: str, subtype: str | None) -> FinalAnswer:
    found = reference_answer(reference, subtype)
    return found if found.found else _one_line_reference(reference)


def is_retracted(completion: str, answer: FinalAnswer) -> bool:
    """Return whether the text after an answer retracts it: "**5**? No, it should be 6"; a box is not retracted."""
    if answer.how not in ("cue", "bold"):
        return False
    behind = completion[answer.end : answer.end + _REVISED_WITHIN]
    found = _DATA.revision.search(behind)
    return found is not None and _ANOTHER.search(behind, found.end()) is not None


def is_stated(answer: FinalAnswer, completion: str) -> bool:
    """Return whether the completion states explicitly that this is its answer; else it is a guess from the last line.

    Bold text and a formula are explicit if the line ends with them, not if it continues in words.
    """
    if answer.how in ("bold", "math"):
        line_end = completion.find("\n", answer.end)
        behind = completion[answer.end : line_end if line_end >= 0 else len(completion)]
        line_start = completion.rfind("\n", 0, answer.start) + 1
        if answer.how == "bold" and not completion[line_start : answer.start].strip("* ") and _LEADS.match(behind):
            return True
        return len(LONG_WORD.findall(behind)) <= _FEW_WORDS
    if answer.how == "whole":
        return len(answer.text) <= _STATEMENT
    return answer.how not in ("last_line", "last_sentence")


def is_hedged(text: str) -> bool:
    """Return whether a sentence leaves open which of several answers it means."""
    return _DATA.holds("hedge", text.lower())


def with_unit_behind(text: str, answer: FinalAnswer) -> str:
    r"""Return an answer in a box together with the unit after the box: ``\boxed{24}`` square metres."""
    if answer.how != "boxed" or not answer.text[-1:].isdigit():
        return answer.text
    name = unit_behind(text[answer.end : answer.end + MAX_UNIT])
    is_sure = not name.isalpha() or len(name) > _SHORT_UNIT or name in _SHORT_UNITS
    return f"{answer.text} {name}" if name and is_sure else answer.text


def boxes_of(answer: FinalAnswer) -> tuple[str, ...]:
    """Return the contents of the boxes if an answer's text has several; else only its text, without boxes in it."""
    if answer.how != "boxed" or "box" not in answer.text:
        return (answer.text,)
    if not (answer.text.endswith("}") and _BOX.match(answer.text)):
        return (_BOX.sub("{", answer.text),)
    return tuple(answer.text[start:end].strip() for start, end in boxed_spans(answer.text)) or (answer.text,)


def last_boxes(completion: str, count: int) -> tuple[str, ...] | None:
    """Return a reply's boxes in order if it has exactly ``count`` different ones."""
    reply = completion[reply_start(completion) :]
    found = tuple(dict.fromkeys(reply[start:end].strip() for start, end in boxed_spans(reply)))
    return found if len(found) == count else None


def list_items(completion: str) -> tuple[str, ...]:
    """Return the items of the list a reply ends with, such as ``1. quark``, ``2. quarry``; empty without one."""
    items: list[str] = []
    for line in reversed(
        completion[max(reply_start(completion), len(completion) - _STATED_WITHIN) :].rstrip().split("\n")
    ):
        item = _ITEM.fullmatch(line)
        if item is None or len(items) == MAX_PARTS:
            break
        items.append(item[1].strip(" *_.$"))
    return tuple(reversed(items))


def last_paragraph(completion: str) -> str:
    reply = completion[max(reply_start(completion), len(completion) - _STATED_WITHIN) :]
    return reply.strip("` \n").rpartition("\n\n")[2].strip("` \n").removeprefix("json\n")


def stated_values(completion: str) -> Iterator[str]:
    """Yield the values that the reply's end states outside its box, latest first; of a chain of equations only the
    last."""
    reply = completion[max(reply_start(completion), len(completion) - _STATED_WITHIN) :]
    found = [_STATED_END.split(value[1], maxsplit=1)[0].strip() for value in _STATED.finditer(reply)]
    yield from list(dict.fromkeys(value for value in reversed(found) if value))[:_MAX_STATED]


def _one_line_reference(reference: str) -> FinalAnswer:
    text = reference.strip()
    formula = text.startswith(("$$", "\\[")) and text.endswith(("$$", "\\]"))
    if not text or len(text) > _MAX_LINE_CHARACTERS or ("\n" in text and not formula):
        return FinalAnswer("", len(reference), len(reference), "none")
    start = reference.index(text)
    return FinalAnswer(text, start, start + len(text), "whole")


def _reference_parts(question: str, reference: str, answer: FinalAnswer) -> tuple[str, ...]:
    parts = boxes_of(answer)
    if len(parts) == 1:
        parts = (with_unit_behind(reference, answer),)
    if len(parts) > 1 or answer.how != "boxed" or len(reference) > _MAX_WORKED_REFERENCE_CHARACTERS:
        return parts
    if _SUB_QUESTIONS.search(question):
        boxes = tuple(dict.fromkeys(reference[start:end].strip() for start, end in boxed_spans(reference)))
        if 1 < len(boxes) <= _MAX_PARTS:
            return boxes
    return parts


def _candidate_final(question: str, completion: str) -> FinalAnswer:
    """Return the completion's own final answer.

    Text after the end of the model's turn, lines that only state a verdict, and lines copied from the question
    or addressed to a judge don't count.
    """
    if is_all_thought(completion):
        return completion_answer(completion)
    end = _completion_end(completion)
    own = completion if end == len(completion) else completion[:end]
    asked = asked_part(question[-_MAX_LINE_CHARACTERS:])
    own = _own_part(own, asked) if asked else own
    if own.endswith(".)") and (remark := _CLOSING_REMARK.search(own, max(len(own) - _LINE, 0))):
        own = own[: remark.start()]
    answer = completion_answer(own)
    if asked and (label := _DATA.part_line.match(answer.text)):
        begin = answer.start + (label.end() if _label_of(label) == asked else len(answer.text))
        answer = answer._replace(text=own[begin : answer.end], start=begin)
    if answer.how != "boxed" and (told := answer_in_envelope(own, reply_start(own))) is not None:
        answer = told
    if (
        answer.how in ("last_line", "last_sentence", "bold", "math")
        and (block := _ONLY_BLOCK.fullmatch(own, reply_start(own))) is not None
        and block["output"] not in question
        and _DATA.holds("prints", question.lower())
    ):
        answer = strip_answer(own, *block.span("output"), "cue") or answer
    if answer.how in ("last_line", "whole") and answer.text.startswith("#"):
        # gsm8k marks the answer with four.
        how: How = "hashes" if answer.text.startswith("#### ") else answer.how
        text = answer.text.lstrip("# ")
        answer = answer._replace(text=text, start=answer.end - len(text), how=how)
    if not answer.found:
        answer = _closing_sentence(own) or answer
    if answer.how == "boxed" or not answer.found:
        return answer
    if answer.how == "math" and not is_stated(answer, own):
        sentence = _closing_sentence(own)
        answer = sentence if sentence and _is_before(own, answer, sentence) else answer
    if answer.how == "math" and (goes_on := _GOES_ON.match(own, answer.end)):
        answer = strip_answer(own, *goes_on.span("result"), "last_sentence") or answer
    answer = _whole_formula(own, answer)
    if answer.text[-1:] > _PICTURES and (shown := _PICTURE.sub("", answer.text)):
        answer = answer._replace(text=shown, end=answer.start + len(shown))
    if _NOTHING.fullmatch(answer.text) or _is_not_own_answer(question, completion[:end], answer):
        return FinalAnswer("", len(completion), len(completion), "none")
    return answer


@lru_cache(maxsize=256)
def asked_part(question: str) -> str:
    """Return the label of the only part of a question that its end asks for: "b" of "... Give the answer to (b)."."""
    if not (_A_LABEL.search(question) or _DATA.holds("named_part", question.lower())):
        return ""
    asked = sentences(question)[-1]
    found = [_label_of(part) for part in _DATA.part.finditer(asked) if asked[: part.start()].strip()]
    found = found or [_label_of(part) for part in _DATA.part.finditer(question)]
    return found[0] if len(set(found)) == 1 else ""


def _label_of(part: re.Match[str]) -> str:
    return (part["named"] or part["label"]).lower()


def _own_part(completion: str, asked: str) -> str:
    """Return a completion up to the end of its answer to one part of the question, with blanks in place of labels."""
    lines = list(_DATA.part_line.finditer(completion))
    at = max((place for place, line in enumerate(lines) if _label_of(line) == asked), default=-1)
    end = lines[at + 1].start() if at + 1 < len(lines) else len(completion)
    begin, behind = lines[at].span() if at >= 0 else (end, end)
    return completion[:begin] + " " * (behind - begin) + completion[behind:end]


def labelled_answers(question: str, completion: str) -> list[str]:
    """Return the answers to the parts of a question, each in a section that begins with its label: "(a) …", "(b) …"."""
    labels = list(dict.fromkeys(map(_label_of, _DATA.part.finditer(question))))
    reply = completion[reply_start(completion) :]
    lines = list(_DATA.part_line.finditer(reply))
    if len(lines) < 2 or list(map(_label_of, lines)) != labels:
        return []
    ends = [*(line.start() for line in lines[1:]), len(reply)]
    return [_candidate_final("", reply[line.end() : end]).text for line, end in zip(lines, ends, strict=True)]


def _is_before(completion: str, formula: FinalAnswer, sentence: FinalAnswer) -> bool:
    """Return whether a sentence, or its last value, comes after a formula."""
    return formula.end < sentence.start or GIVES_NUMBER.search(completion, formula.end, sentence.end) is not None


def _closing_sentence(completion: str) -> FinalAnswer | None:
    found = last_sentence(completion, reply_start(completion), len(completion))
    if found is None or found[1] - found[0] > MAX_ANSWER:
        return None
    if sum(not word.isupper() for word in LONG_WORD.findall(completion, *found)) <= _FEW_WORDS:
        return None
    return strip_answer(completion, *found, "last_sentence")


def _whole_formula(completion: str, answer: FinalAnswer) -> FinalAnswer:
    """Extend a last formula by its parts outside the delimiters: a unit, an exponent, the domain of a parameter.

    ``$9.8$ m/s$^2$`` and ``$x = k\\pi$, $k \\in \\mathbb{Z}$`` are one answer each. The same holds for a name that is
    cut at a full stop: "J. R. R. Tolkien".
    """
    end = completion.find("\n", answer.end)
    end = end if end >= 0 else len(completion)
    if (
        answer.how == "cue"
        and _INITIAL.search(completion, max(answer.end - 1, 0), answer.end)
        and completion[answer.end : answer.end + 2] == ". "
    ):
        ends = _NAME_END.search(completion, answer.end + 1, end)
        return _extend(completion, answer, answer.start, ends.start() if ends else end)
    if answer.how != "math" or completion[answer.end : answer.end + 1] != "$":
        return answer
    start, line = answer.start, completion.rfind("\n", 0, answer.start) + 1
    spans = [(span.start(), span.end()) for span in _FORMULA.finditer(completion, line, end)]
    place = next((at for at, (begin, close) in enumerate(spans) if begin <= answer.start < close), None)
    if place is None:
        return answer
    start, stop = spans[place]
    while place and _BELONGS.fullmatch(completion, spans[place - 1][1], start):
        place -= 1
        start = spans[place][0]
    behind = _DATA.unit_behind.match(completion, stop, end)
    if behind is not None and unit(behind[1].strip()) is not None:
        stop = behind.end()
    if (said := _DATA.of_parameter.match(completion, stop, end)) is not None:
        stop = said.end()
    if completion[stop : stop + 1] == ")" and "(" in completion[spans[place][1] : stop]:
        stop += 1
    if (start, stop) == (spans[-1][0], spans[-1][1]):
        return answer
    return _extend(completion, answer, start, stop)


def _extend(completion: str, answer: FinalAnswer, start: int, end: int) -> FinalAnswer:
    text = completion[start:end]
    begin, text = start + len(text) - len(text.lstrip()), text.strip().rstrip(".")
    return answer._replace(text=text, start=begin, end=begin + len(text))


def _completion_end(completion: str) -> int:
    start = reply_start(completion)
    turn = _DATA.turn_end.search(completion, start) if _has_any(_TURN_MARKS, completion, start) else None
    end = turn.start() if turn else len(completion)
    while end > start:
        # Character by character: stripping a slice would copy the whole reply for every such line.
        stripped = end
        while stripped > start and completion[stripped - 1].isspace():
            stripped -= 1
        line = max(completion.rfind("\n", start, stripped) + 1, start)
        if not (
            _FENCE.fullmatch(completion, line, stripped)
            or (_DATA.where.match(completion, line) and _FORMULA_END.search(completion, max(line - _GAP, start), line))
            or (line > start and closing_line(completion[line:stripped]))
            or (start < line and stripped - line <= 120 and _DATA.verdict_line.fullmatch(completion, line, stripped))
        ):
            return end
        end = line
    return end


def _is_not_own_answer(question: str, completion: str, answer: FinalAnswer) -> bool:
    line, reply = _line_of(completion, answer), completion[reply_start(completion) :].strip()
    if line in question and (len(line) >= _ECHO or reply != line):
        # An option may be given in full, but not after the line before it.
        above = completion[reply_start(completion) : completion.rfind("\n", 0, answer.start) + 1]
        before = above.rstrip().rpartition("\n")[2].strip()
        if (before and before in question) or (len(line) >= _ECHO and not _AN_OPTION.match(line)):
            return True
    return _repeats_question(question, reply) or _DATA.holds("addresses_a_judge", line[-400:].lower())


def _repeats_question(question: str, reply: str) -> bool:
    if not len(question) / 2 <= len(reply) <= 10 * len(question) + _ECHO:
        return False
    lines = dict.fromkeys(line.strip() for line in reply.split("\n"))
    return len(lines) <= _MAX_REPEATED and all(line in question for line in lines)


def _line_of(completion: str, answer: FinalAnswer) -> str:
    start = completion.rfind("\n", 0, answer.start) + 1
    end = completion.find("\n", answer.end)
    return completion[start : end if end >= 0 else len(completion)].strip()
