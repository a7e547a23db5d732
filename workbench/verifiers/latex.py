"""Check whether sympy can parse LaTeX here.

The parser, latex2sympy2-extended, supports three releases of antlr's runtime and requires the whole range between them.
Other packages require one of these each (omegaconf 4.9, lm-eval 4.11): the installed one is known only here.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from workbench.core.errors import VerifierError

_READER: Final = "latex2sympy2-extended"
_RUNTIME: Final = "antlr4-python3-runtime"
_USABLE: Final = {
    "sympy": re.compile(r".*"),
    _READER: re.compile(r"1\.\d\d.*|[2-9].*"),
    _RUNTIME: re.compile(r"4\.9\.3|4\.11(\.\d+)?|4\.13\.2"),
}
_HINTS: Final = {
    _READER: f"Run: pip install '{_READER}>=1.10'",
    _RUNTIME: f"Run: pip install {_RUNTIME}==4.13.2 (4.11.0 and 4.9.3 do as well)",
}


def lack() -> VerifierError | None:
    """Return what is missing or has the wrong version, with advice; None if LaTeX can be parsed."""
    for package, usable in _USABLE.items():
        hint = _HINTS.get(package, f"Run: pip install {package}")
        try:
            found = version(package)
        except PackageNotFoundError:
            return VerifierError(f"The package {package} isn't installed.", hint)
        if not usable.fullmatch(found):
            return VerifierError(f"LaTeX can't be read with {package} {found}.", hint)
    return None
