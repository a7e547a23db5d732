"""CodeBLEU (Ren et al. 2020): BLEU, weighted BLEU, syntax and data flow, as the package codebleu computes it."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, ClassVar, Literal

from workbench.core.errors import VerifierError
from workbench.core.options import option
from workbench.verifiers.option_record import choices, meanings, parse_record
from workbench.verifiers.similarity.verifier import HINT, Similarity, SimilarityOptions, TooLongError, installed

LANGUAGES = ("c", "c_sharp", "cpp", "go", "java", "javascript", "php", "python", "ruby", "rust")
"""The languages that codebleu supports; each needs its grammar, ``tree-sitter-java`` and so on."""

MAX_CHARACTERS = 60_000
"""Maximum characters of each side; 50 kB of Python take about half a second."""

_FITTING = ("0.21.", "0.22.")
_BASE = installed("codebleu", "tree-sitter", hint=f"{HINT} (Python 3.11 or 3.12)")


class CodeBleuOptions(SimilarityOptions, frozen=True, kw_only=True):
    of: Annotated[
        Literal["auto", "final", "whole"],
        option("texts to compare: final (final answers), whole (whole texts) or auto (whole texts for code)"),
    ] = "whole"
    lang: Annotated[str, option(f"programming language: {', '.join(LANGUAGES)}", choices=LANGUAGES)] = "python"


class CodeBleu(Similarity):
    """CodeBLEU with equal weights, by default of the whole texts.

    Two properties of the package affect its scores. A reference without data flow, or without a matching flow, counts
    as full data flow, so that programs with nothing in common score 0.25. If several variables flow into one variable,
    the score can differ slightly between processes.
    """

    description: ClassVar[str] = "Similarity: correct if CodeBLEU (codebleu) reaches a threshold"
    record: ClassVar[type[SimilarityOptions]] = CodeBleuOptions
    options: ClassVar[dict[str, str]] = meanings(CodeBleuOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(CodeBleuOptions)
    preload: ClassVar[tuple[str, ...]] = ("codebleu",)
    name: str = "codebleu"

    def __init__(self, **options: str) -> None:
        super().__init__(**options)
        self._lang = parse_record(CodeBleuOptions, options).lang
        self.version = f"{_BASE}+{_grammar_version(self._lang)}+2"

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
