"""Answers that look much like the right one and are not: altered in a word, sign or form; None where they can't be."""

from __future__ import annotations

import re

_SOLVED = re.compile(r"([A-Za-z])\s*=\s*(-?\d{1,9})")
_NUMBER = re.compile(r"-?\d{1,9}")
_NAMED = re.compile(r"[A-Za-z]\s*=[^=<>]+")
_MATH = re.compile(r"\$([^$]{3,200})\$")
_CURRENCY = re.compile(r"(?:\\?\$|€|£)\s?(\d[\d,]*(?:\.\d+)?)\$?")
_COUNTED = re.compile(r"(-?\d[\d,]*(?:\.\d+)?)\s*(?:\\text\{\s*)?([A-Za-z]{3,20})\}?")
_SYMBOL = re.compile(r"[A-Z][A-Za-z]")
_OF_SYMBOLS = re.compile(r"\b(?:symbol|formula|element|compound|gas|metal|ion|oxide)\b", re.IGNORECASE)
_PREFIXED = re.compile(r"(\d[\d.]*\s*)([mM])([A-Za-z]{1,2})")
_AND, _OR = re.compile(r"\\(?:land|wedge)(?![A-Za-z])|∧"), re.compile(r"\\(?:lor|vee)(?![A-Za-z])|∨")
_PAIR = re.compile(r"\(([^(),]+),([^(),]+)\)")
_DECIMAL = re.compile(r"(-?\d{1,9}[.,])(\d{1,6})")
_NAME = re.compile(r"[A-Z][a-z]{2,20}")
_FUNCTION = re.compile(r"(?<![A-Za-z\\])([f-hF-H])\s*\(")
_ZERO = re.compile(r"0|0\.0+")


def unsolved(answer: str) -> str | None:
    """``3x = 18`` for 6 or ``x = 6``."""
    bare = answer.strip("$ ")
    if solved := _SOLVED.fullmatch(bare):
        return f"3{solved[1]} = {3 * int(solved[2])}"
    return f"3x = {3 * int(bare)}" if _NUMBER.fullmatch(bare) else None


def given_equation(question: str, answer: str) -> str | None:
    """The first equation of a question whose answer names what it solves for, or is a number."""
    bare = answer.strip("$ ")
    if not (_NAMED.fullmatch(bare) or _NUMBER.fullmatch(bare)):
        return None
    found = (math.strip() for math in _MATH.findall(question))
    return next(
        (text for text in found if text.count("=") == 1 and re.search(r"[A-Za-z]", text) and text != bare), None
    )


def circular(answer: str) -> str | None:
    """``x = 2x - 6`` for ``x = 6``."""
    solved = _SOLVED.fullmatch(answer.strip("$ "))
    return f"{solved[1]} = 2{solved[1]} - ({solved[2]})" if solved else None


def other_currency(answer: str) -> str | None:
    """An amount in euros, or in pounds where it is in euros."""
    amount = _CURRENCY.fullmatch(answer.strip())
    return f"{'£' if '€' in answer else '€'}{amount[1]}" if amount else None


def other_noun(answer: str) -> str | None:
    """As many locomotives."""
    counted = _COUNTED.fullmatch(answer.strip("$ "))
    return f"{counted[1]} \\text{{ locomotives}}" if counted else None


def other_case(question: str, answer: str) -> str | None:
    """``Co`` for CO where the question asks for a substance or a symbol; ``mW`` for MW."""
    bare = answer.strip("$ ")
    if prefixed := _PREFIXED.fullmatch(bare):
        return f"{prefixed[1]}{prefixed[2].swapcase()}{prefixed[3]}"
    if not _SYMBOL.fullmatch(bare) or not _OF_SYMBOLS.search(question):
        return None
    return bare.capitalize() if bare.isupper() else bare.upper()


def other_connective(answer: str) -> str | None:
    """A formula with "or" for every "and", or the reverse where it has no "and"."""
    if _AND.search(answer):
        return _AND.sub(r"\\lor ", answer)
    return _OR.sub(r"\\land ", answer) if _OR.search(answer) else None


def listed_connective(answer: str) -> str | None:
    """A formula's parts, listed."""
    if "=" in answer or "<" in answer or ">" in answer or not (_AND.search(answer) or _OR.search(answer)):
        return None
    return _OR.sub(", ", _AND.sub(", ", answer))


def solutions(answer: str) -> str | None:
    """``x = 1, x = 2`` for ``(1, 2)``."""
    pair = _PAIR.fullmatch(answer.strip("$ "))
    return f"x = {pair[1].strip()}, x = {pair[2].strip()}" if pair else None


def zero_inserted(answer: str) -> str | None:
    """``3,05`` for 3,5."""
    decimal = _DECIMAL.fullmatch(answer.strip("$ "))
    return f"{decimal[1]}0{decimal[2]}" if decimal and decimal[2].strip("0") else None


def longer_name(answer: str) -> str | None:
    """``Paris, Texas`` for Paris."""
    return f"{answer.strip()}, Texas" if _NAME.fullmatch(answer.strip()) else None


def function_value(question: str, answer: str) -> str | None:
    """``-g(0)`` for 0, where g is the question's function."""
    function = _FUNCTION.search(question)
    return f"-{function[1]}(0)" if function and _ZERO.fullmatch(answer.strip("$ ")) else None
