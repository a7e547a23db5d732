"""Strategies that generate texts for final-answer extraction."""

from __future__ import annotations

from hypothesis import strategies as st

_VISIBLE = r"\boxed{ { } \} </think> <think> #### ** * $ $$ \( \) \[ \] Answer: 1,2 x. : 答案是 `"
_TOKENS = [
    *_VISIBLE.split(),
    "\\",
    "\\fbox {",
    "\n",
    "Final answer\n",
    "the answer is",
    " ",
]

ANYTHING = st.one_of(
    st.text(),
    st.lists(st.sampled_from(_TOKENS), max_size=25).map("".join),
)
"""Any text, or a text built from the markers that final-answer extraction recognizes."""
