"""The similarity verifiers as test parameters, with items for them."""

from __future__ import annotations

import sys

import pytest

from workbench.core.verdict import VerifierInput

TEXT_KINDS = ("bleu", "chrf", "rouge-l", "meteor-nosyn")
needs_codebleu = pytest.mark.skipif(sys.version_info >= (3, 13), reason="codebleu's tree-sitter has no wheels here")
KINDS = (*TEXT_KINDS, pytest.param("codebleu", marks=needs_codebleu))


def item(reference: str, completion: str) -> VerifierInput:
    """An item without a question."""
    return VerifierInput(item=1, question="", reference=reference, completion=completion)
