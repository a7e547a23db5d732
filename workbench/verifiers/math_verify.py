"""The field's reference rule verifier, huggingface/Math-Verify, in a separate process."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from workbench.core.errors import VerifierError
from workbench.core.options import Options
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers import latex
from workbench.verifiers.base import Isolation
from workbench.verifiers.judging import Allowance
from workbench.verifiers.option_record import changed_values, choices, meanings, parse_record

_WRAPPER_VERSION = "2"


class MathVerifyOptions(Options, frozen=True, kw_only=True):
    """The library's options, under its names; defaults are omitted from a configuration."""

    strict: Annotated[bool, Meta(description="whether variables must have the same names")] = True
    float_rounding: Annotated[
        int, Meta(ge=0, le=30, description="number of decimal places to which numbers are rounded")
    ] = 6
    numeric_precision: Annotated[
        int, Meta(ge=1, le=100, description="number of digits to which expressions are evaluated")
    ] = 15
    allow_set_relation_comp: Annotated[
        bool, Meta(description="whether 1 < x < 2 equals (1, 2), whichever form the reference has")
    ] = False
    extraction: Annotated[
        Literal["latex+expr", "latex", "expr"],
        Meta(description="answers to look for in a completion: latex, expr (plain expressions) or both"),
    ] = "latex+expr"
    reference: Annotated[
        Literal["wrapped", "plain"],
        Meta(description="how the reference is parsed: wrapped (as $reference$) or plain (unchanged, which may fail)"),
    ] = "wrapped"


class MathVerify:
    """Math-Verify, by default with its default extraction; the reference is parsed as ``$reference$``.

    Only worker processes import the library: it loads sympy, can hang for minutes and can use all memory. The worker
    pool's deadline replaces its own timeouts.
    """

    description: ClassVar[str] = "Math-Verify: parses both answers and compares them with sympy"
    options: ClassVar[dict[str, str]] = meanings(MathVerifyOptions)
    choices: ClassVar[dict[str, tuple[str, ...]]] = choices(MathVerifyOptions)
    preload: ClassVar[tuple[str, ...]] = ("workbench.verifiers.math_backend",)
    name: str = "math-verify"
    isolation: Isolation = "process"
    allowance = Allowance(deadline_s=3.0)
    """Actual answers take up to 0.7 s of processor time, and half as much again under load."""

    def __init__(self, **options: str) -> None:
        self._options = parse_record(MathVerifyOptions, options)
        if (lack := latex.lack()) is not None:
            raise lack
        try:
            self.version = f"{version('math-verify')}+sympy{version('sympy')}+{_WRAPPER_VERSION}"
        except PackageNotFoundError as error:
            raise VerifierError("The package math-verify isn't installed.", "Run: pip install math-verify") from error

    def config(self) -> dict[str, object]:
        return changed_values(self._options)

    def prepare(self) -> None:
        """Do nothing: the server has already imported everything."""

    def verify(self, item: VerifierInput) -> Verdict:
        """Return the library's verdict; abstain if it can't parse an answer."""
        from workbench.verifiers.math_backend import judge

        return judge(item.reference, item.completion, self._options)
