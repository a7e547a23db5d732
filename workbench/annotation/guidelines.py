"""What annotators are asked to do, in short; every label stores the version it was given under."""

from __future__ import annotations

VERSION = "1"
"""Goes up with every change of the text that may change a label."""

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
