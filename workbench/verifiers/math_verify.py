"""The field's reference rule verifier, huggingface/Math-Verify, in a process of its own."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar

from workbench.core.errors import VerifierError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers import latex
from workbench.verifiers.base import Isolation
from workbench.verifiers.judging import Allowance

_WRAPPER_VERSION = "2"


class MathVerify:
    """Math-Verify with its default extraction; the reference is parsed as ``$reference$``.

    The library is imported only by worker processes: it brings sympy, can hang for minutes and can take
    all memory. Its own timeouts are off, because the worker pool's deadline replaces them.
    """

    description: ClassVar[str] = "Math-Verify: parses both answers and compares them with sympy"
    options: ClassVar[dict[str, str]] = {}
    preload: ClassVar[tuple[str, ...]] = ("workbench.verifiers.math_backend",)
    name: str = "math-verify"
    isolation: Isolation = "process"
    allowance = Allowance(deadline_s=3.0)
    """Real answers take up to 0.7 s of processor time, and half as much again beside busy neighbours."""

    def __init__(self) -> None:
        if (lack := latex.lack()) is not None:
            raise lack
        try:
            self.version = f"{version('math-verify')}+sympy{version('sympy')}+{_WRAPPER_VERSION}"
        except PackageNotFoundError as error:
            raise VerifierError("The package math-verify isn't installed.", "Run: pip install math-verify") from error

    def config(self) -> dict[str, object]:
        """It has no options."""
        return {}

    def prepare(self) -> None:
        """There is nothing to load: the server has imported it all."""

    def verify(self, item: VerifierInput) -> Verdict:
        """The library's verdict; an answer it can't parse is an abstention."""
        from workbench.verifiers.math_backend import judge

        return judge(item.reference, item.completion)
