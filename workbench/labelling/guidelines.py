"""What annotators are asked to do, in short; every label stores the version it was given under."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import ndiff
from hashlib import blake2b

VERSION = "1"
"""The built-in text's version; a project's own texts count on from it."""

_SOURCE = r"""# Correctness: one verdict for each completion

Judge the **final answer**, not the way to it. Compare it with the reference's final answer.

- `1` **correct**: it says the same. Another form of the same value is the same: $\frac{1}{2}$ and 0.5,
  x = 3 and 3, $2\sqrt{2}$ and $\sqrt{8}$, an equivalent expression, a set in another order, the letter of a choice
  or its text.
- `0` **incorrect**: it differs, is missing, names several different answers, or leaves out a part that was asked for.
  A rounded value is correct only where the question asks for rounding or the reference is rounded as well.
- `x` **unsuitable**: nobody could judge it. The reasons:
  **proof** (it asks for a proof), **open-ended** (no single answer), **bad reference** (wrong or missing),
  **unanswerable** (as it stands), **truncated** (question or completion is cut off), **other** (write a note).

The reference counts as right unless you are sure that it is wrong: then choose *bad reference*.
Units and missing dollar signs matter only where the question asks for them.
Right answer, wrong reasoning: still correct. Say so in a note (`c`) if it matters.
In doubt, decide, and press `u` (unsure) before the verdict; a flag (`f`) calls the coordinator.

Work alone. Labels are compared only afterwards; where two people differ, a third one settles it.

# Answer type: one type for each question

Look at the **reference's** final answer. `t`, then the letter, then the number.

- **A Numeric Values**: 1 Integer, 2 Constant (such as $\pi$ or e), 3 Float, 4 Radical, 5 Complex Number,
  6 Angle, 7 Non-decimal number (a fraction, a power, another base), 8 Multiple Values.
- **B Expressions**: 1 Algebraic Formula, 2 Equation, 3 Interval, 4 Set, 5 Matrix.
- **C Multi-choice**: 1 Single Choice, 2 Multiple Choice, 4 Finite state selection (yes or no, true or false).
- **D String**: 1 Specific (one wording is right), 2 Semantic (the meaning counts).

Where two fit, take the narrower one. A type, once given, counts for every completion of the question.
"""

TEXT = _SOURCE.replace("\n  ", " ")
"""The text as Markdown, a paragraph or list item a line."""

MAX_CHARACTERS = 100_000
"""A longer text is no guideline that anybody reads."""

CASES = "# Cases decided so far"
"""Heading under which notes from conflicts are gathered."""

_NUMBER = re.compile(r"[0-9]{1,9}")


def number_of(version: str) -> int:
    """The number a version's name begins with; 0 for a name without."""
    found = _NUMBER.match(version)
    return int(found[0]) if found else 0


def next_version(held: Iterable[str], text: str) -> str:
    """The name of a new version after those that are there: the next number, and six digits of the text's hash.

    With the hash, two databases that each go on from the same version never give one name to two texts.
    """
    number = 1 + max(map(number_of, held), default=0)
    return f"{number}-{blake2b(text.encode()).hexdigest()[:6]}"


MOST_NEWS = 20
"""More changed lines than these are a new text, which is read as a whole."""


def with_news(version: str, before: str, text: str) -> str:
    """A text with what is new in it before it: the lines that another text has not, and those it had.

    Args:
        before: The text that its reader knows.
    """
    found = list(ndiff(before.splitlines(), text.splitlines()))
    added, gone = (
        [f"- {line[2:].strip().lstrip('#- ')}" for line in found if line.startswith(sign) and line[2:].strip()]
        for sign in ("+ ", "- ")
    )
    news = [f"# New in version {version}", ""]
    if len(added) + len(gone) > MOST_NEWS:
        news += ["Nearly all of it: read it again."]
    else:
        news += added
        news += ["", "No longer there:", "", *gone] if gone else []
    return "\n".join([*news, "", text])


def with_case(text: str, case: str) -> str:
    """The text with one more decided case at the end of its section, which is begun where there is none."""
    line = f"- {case}"
    lines = text.rstrip().splitlines()
    if CASES not in lines:
        return "\n".join([*lines, "", CASES, "", line, ""])
    begin = lines.index(CASES) + 1
    end = next((n for n in range(begin, len(lines)) if lines[n].startswith("# ")), len(lines))
    while not lines[end - 1].strip():
        end -= 1
    between = [""] if end == begin else []
    return "\n".join([*lines[:end], *between, line, *lines[end:], ""])
