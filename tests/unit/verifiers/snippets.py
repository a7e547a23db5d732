"""Three hundred code snippets in ten languages that must stay unchanged."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

_FILE = Path(__file__).with_name("code_snippets.txt")
_NAMES = (
    {"T": "Node", "i": "i", "N": "MAX_LEN"},
    {"T": "u8", "i": "max_i", "N": "MASK"},
    {"T": "s", "i": "row_idx0", "N": "EOS"},
)
"""Names put into each snippet; some are also tokens of vocabularies."""


def snippets() -> list[tuple[str, str]]:
    """Each with its language."""
    blocks = re.findall(r"^### (\w+)\n(.*?)(?=^### |\Z)", _FILE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found = []
    for (language, code), names in product(blocks, _NAMES):
        for placeholder, name in names.items():
            code = re.sub(rf"@{placeholder}\b", name, code)
        found.append((language, code))
    return found
