"""Makes untrusted text safe to display: it can't control the terminal or reverse the direction of a line."""

from __future__ import annotations

import re

TAB = "    "
"""Display of a tab."""

_SPECIAL = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # C0, DEL, C1
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # bidi, invisible
    "\ud800-\udfff\U000e0000-\U000e007f]"  # lone surrogates, tag characters
)


def inert(text: str) -> str:
    """Return the text with every control, bidirectional and invisible character replaced by a picture or a code.

    C0 controls become their pictures (``␛``), others their code point (``⟨U+202E⟩``), a tab four spaces. Zero-width
    joiners are kept: scripts and emoji need them.
    """
    return _SPECIAL.sub(_replacement, text)


def inert_lines(text: str) -> str:
    return "\n".join(map(inert, text.split("\n")))


def _replacement(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 0x09:
        return TAB
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"
