"""Wrappers of answers in completions: ``<answer>`` tags, a JSON object; and polite last lines."""

from __future__ import annotations

import json
import re
from json import JSONDecodeError

from workbench.core.final_answer import FinalAnswer
from workbench.verifiers.rules.patterns import Lexicon
from workbench.verifiers.rules.sense import has_change_word

_DATA = Lexicon("envelopes")
_TAGGED = re.compile(r"<(answer|final_answer|final)>\s*((?:(?!</?\1>).)*?)\s*</\1>", re.DOTALL | re.IGNORECASE)
_ONLY_KEY = re.compile(r'^\s*\{\s*"([^"\n]{1,40})"\s*:\s*', re.MULTILINE)
"""The key of an object that begins a line; it is the answer's if the object has no other."""
_ANY_KEY = re.compile(r'"\s*:\s*\Z')
_KEY_REACH = 40
_UNESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\[A-Za-z]{2}")
"""A macro with an unescaped backslash, which JSON reads as a control character."""
_OBJECT_END = re.compile(r"\}\s*(?:`{3}\s*)?\Z")
_MAX_CHARACTERS = 2_000
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")


def answer_in_envelope(completion: str, start: int) -> FinalAnswer | None:
    """Return the answer in the last ``<answer>`` tags, or under the key of a JSON object at the reply's end."""
    return _from_tags(completion, start) or _from_json(completion, start)


def unpack_json(completion: str, answer: FinalAnswer) -> str:
    """Return an answer's text without JSON syntax: without the escapes of a string or the brackets of a list of
    values."""
    if answer.how != "cue" or completion[answer.start - 1 : answer.start] not in ('"', ":", " "):
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
    return _DATA.courtesy.fullmatch(line) is not None and _DATA.turn.search(line) is None


_LINE = 240


def _from_tags(completion: str, start: int) -> FinalAnswer | None:
    if "</" not in completion[-_LINE:]:
        return None
    begin = max(start, len(completion) - _MAX_CHARACTERS)
    found = [tag for tag in _TAGGED.finditer(completion, begin) if tag[2]]
    if not found or completion[found[-1].end() :].strip(" \n.`"):
        return None
    return FinalAnswer(found[-1][2], *found[-1].span(2), "cue")


def _from_json(completion: str, start: int) -> FinalAnswer | None:
    if not completion[-_LINE:].rstrip().endswith(("}", "`")):
        return None
    end = _OBJECT_END.search(completion, max(start, len(completion) - _LINE))
    if end is None:
        return None
    keys = [key.end() for key in _DATA.key.finditer(completion, max(start, len(completion) - _MAX_CHARACTERS))]
    keys = keys or _only_key(completion, start)
    if not keys:
        return None
    begin = keys[-1]
    try:
        value, behind = json.JSONDecoder(strict=False).raw_decode(completion, begin)
    except (JSONDecodeError, RecursionError):
        return _unquote(completion, begin, end.start())
    if completion[behind:].strip(" \n\t`.}],") and not completion[behind:].lstrip().startswith(","):
        return None
    if isinstance(value, str):
        begin, behind = begin + 1, behind - 1
    text = completion[begin:behind].strip()
    if not text or isinstance(value, (dict, type(None))):
        return None
    begin = completion.index(text, begin)
    return FinalAnswer(text, begin, begin + len(text), "cue")


def _only_key(completion: str, start: int) -> list[int]:
    for key in reversed(list(_ONLY_KEY.finditer(completion, max(start, len(completion) - _MAX_CHARACTERS)))):
        try:
            found, _ = json.JSONDecoder(strict=False).raw_decode(completion, completion.index("{", key.start()))
        except (JSONDecodeError, RecursionError):
            return []
        return [key.end()] if len(found) == 1 and not has_change_word(key[1].replace("_", " ")) else []
    return []


def _unquote(completion: str, begin: int, end: int) -> FinalAnswer | None:
    text = completion[begin:end].strip()
    if len(text) < 3 or text[0] != '"' or text[-1] != '"' or '"' in text[1:-1]:
        return None
    begin = completion.index(text, begin) + 1
    return FinalAnswer(text[1:-1], begin, begin + len(text) - 2, "cue")
