"""Parsers of judges' replies: pure functions, one module for each family, each in two versions.

base: shared parts, and the interpretation of a reply, which may decline to judge. thoughts: reasoning to skip.
verifybench, codejudge, compassverifier, ice_score, xverify, rubric: one family each.

Version 1 behaves as the upstream project's own parser, its errors included, to reproduce published numbers. Version 2
is strict: it reads the judge's own words only (see ``reply``), and if they contain no verdict in that judge's form, or
the reply was truncated or declines to judge, it reports that. The version is part of a result: the same replies give
other metrics under another parser.
"""

from __future__ import annotations

import re

from workbench.core.errors import UsageError
from workbench.verifiers.judges.parsers import codejudge, compassverifier, ice_score, verifybench, xverify
from workbench.verifiers.judges.parsers.base import Parser, Reading

__all__ = ["PARSERS", "Parser", "Reading", "parser"]

PARSERS: tuple[Parser, ...] = (
    Parser("verifybench", 1, verifybench.upstream),
    Parser("verifybench", 2, strict=verifybench.strict, labelled=verifybench.labelled, in_words=True),
    Parser("ice-score", 1, ice_score.upstream),
    Parser("ice-score", 2, strict=ice_score.strict, labelled=ice_score.labelled),
    Parser("codejudge", 1, codejudge.upstream),
    Parser("codejudge", 2, strict=codejudge.strict, labelled=codejudge.labelled, in_words=True),
    Parser("codejudge-fault", 2, codejudge.fault_strict, labelled=codejudge.fault_labelled),
    Parser("compassverifier", 1, compassverifier.upstream),
    Parser("compassverifier", 2, strict=compassverifier.strict, labelled=compassverifier.labelled),
    Parser("xverify", 1, xverify.upstream),
    Parser("xverify", 2, strict=xverify.strict, labelled=xverify.labelled),
)
"""Every parser, the newest of a family last."""

_BY_NAME = {one.name: one for one in PARSERS} | {one.id: one for one in PARSERS}


_WORDS = re.compile(r"words:([\w-]{1,30})/([\w-]{1,30})(?:@2)?")


def parser(name: str) -> Parser:
    """Return a parser by its name, such as ``ice-score@1``; the newest of its family without a version.

    Args:
        name: A name in ``PARSERS``; underscores are read as hyphens. ``words:VALID/INVALID`` reads one of two words.

    Raises:
        UsageError: No parser has this name.
    """
    found = _BY_NAME.get(name.replace("_", "-"))
    words = _WORDS.fullmatch(name)
    if found is None and words is not None and words[1].lower() != words[2].lower():
        return xverify.word_parser(words[1], words[2])
    if found is None:
        known = ", ".join(one.id for one in PARSERS)
        raise UsageError(
            f"There is no parser {name!r}.", f"Parsers: {known}, words:ACCEPTS/REJECTS; without @ the newest."
        )
    return found
