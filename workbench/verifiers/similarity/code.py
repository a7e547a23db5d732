"""CodeBLEU (Ren et al. 2020): BLEU, weighted BLEU, syntax and data flow, as the package codebleu computes it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

from workbench.core.errors import VerifierError
from workbench.verifiers.similarity.verifier import HINT, Similarity, TooLongError, installed

LANGUAGES = ("c", "c_sharp", "cpp", "go", "java", "javascript", "php", "python", "ruby", "rust")
"""The languages that codebleu supports; each needs its grammar, ``tree-sitter-java`` and so on."""

MAX_CHARACTERS = 60_000
"""Maximum characters of each side; 50 kB of Python take about half a second."""

_FITTING = ("0.21.", "0.22.")
_BASE = installed("codebleu", "tree-sitter", hint=f"{HINT} (Python 3.11 or 3.12)")


class CodeBleu(Similarity):
    """CodeBLEU with equal weights, by default of the whole texts.

    Two properties of the package affect its scores. A reference without data flow, or without a matching flow, counts
    as full data flow, so that programs with nothing in common score 0.25. If several variables flow into one variable,
    the score can differ slightly between processes.
    """

    description: ClassVar[str] = "Similarity: correct if CodeBLEU (codebleu) reaches a threshold"
    options: ClassVar[dict[str, str]] = {
        **Similarity.options,
        "of": "texts to compare: final (final answers), whole (whole texts, the default) or auto (whole "
        "texts for code)",
        "lang": f"programming language (default python): {', '.join(LANGUAGES)}",
    }
    choices: ClassVar[dict[str, tuple[str, ...]]] = {**Similarity.choices, "lang": tuple(LANGUAGES)}
    preload: ClassVar[tuple[str, ...]] = ("codebleu",)
    name: str = "codebleu"

    def __init__(self, threshold: str = "0.5", of: str = "whole", lang: str = "python") -> None:
        super().__init__(threshold, of)
        if lang not in LANGUAGES:
            raise ValueError(f"lang: must be one of {', '.join(LANGUAGES)}, not {lang!r}")
        self._lang = lang
        self.version = f"{_BASE}+{_grammar_version(lang)}+2"

    def config(self) -> dict[str, object]:
        return {**super().config(), "lang": self._lang}

    def score(self, reference: str, candidate: str) -> float:
        from codebleu import calc_codebleu

        if max(len(reference), len(candidate)) > MAX_CHARACTERS:
            raise TooLongError("the texts are too long for CodeBLEU")
        return float(calc_codebleu([reference], [candidate], self._lang)["codebleu"])


def _grammar_version(lang: str) -> str:
    """Return the language's grammar and its version.

    Raises:
        VerifierError: The grammar isn't installed, or has a version that codebleu's tree-sitter can't load.
    """
    package = f"tree-sitter-{lang.replace('_', '-')}"
    hint = f"Run: pip install '{package}>=0.21,<0.23'"
    try:
        found = version(package)
    except PackageNotFoundError as error:
        raise VerifierError(f"The package {package} isn't installed.", hint) from error
    if not found.startswith(_FITTING):
        raise VerifierError(f"{package} {found} is too new for codebleu.", hint)
    return f"{package}{found}"
