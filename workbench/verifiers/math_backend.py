"""Math-Verify itself. Only worker processes import this module: it loads sympy.

The import also judges one easy pair, so that a server which imports it once shares compiled regular expressions and
parser tables with every worker it forks.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

from workbench.core.verdict import Outcome, Verdict
from workbench.verifiers.judging import peak_kb
from workbench.verifiers.math_verify import MathVerifyOptions

_DEFAULTS: Final = MathVerifyOptions()
_MAX_ANSWER_CHARACTERS = 500
"""Maximum characters of a stored final answer."""

_SUSPECT_KB = 400 * 1024
"""Peak memory from which a failed comparison may be due to a failed allocation that the library hid."""


class _LoggedErrorCatcher(logging.Handler):
    error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info:
            self.error = record.exc_info[1]


def _catch_logged_errors() -> _LoggedErrorCatcher:
    handler = _LoggedErrorCatcher(logging.DEBUG)
    logger = logging.getLogger("math_verify")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    logger.addHandler(handler)
    return handler


_swallowed = _catch_logged_errors()


_EXTRACTION: Final[dict[str, Any]] = {
    "latex+expr": (LatexExtractionConfig(), ExprExtractionConfig()),
    "latex": (LatexExtractionConfig(),),
    "expr": (ExprExtractionConfig(),),
}


def judge(reference: str, completion: str, options: MathVerifyOptions = _DEFAULTS) -> Verdict:
    """Return the result of ``verify(parse("$reference$"), parse(completion))``, without the library's timeouts.

    With ``reference=plain`` it is ``parse(reference)``.

    The library reports "not equal" after an internal exception. So does this function, but the verdict's detail names
    the exception.
    """
    _swallowed.error = None
    gold = parse(reference if options.reference == "plain" else f"${reference}$", parsing_timeout=None)
    if not gold:
        return _undecided("no_reference_answer")
    candidate = parse(completion, _EXTRACTION[options.extraction], parsing_timeout=None)
    if not candidate:
        return _undecided("no_answer_found", reference_final=_first_text(gold))
    equal = verify(
        gold,
        candidate,
        float_rounding=options.float_rounding,
        numeric_precision=options.numeric_precision,
        strict=options.strict,
        allow_set_relation_comp=options.allow_set_relation_comp,
        timeout_seconds=None,
    )
    if not equal and _memory_ran_out():
        raise MemoryError
    return Verdict(
        outcome=Outcome.CORRECT if equal else Outcome.INCORRECT,
        reason="symbolic",
        reference_final=_first_text(gold),
        candidate_final=_first_text(candidate),
        detail=_error_detail(),
    )


def _undecided(reason: str, reference_final: str | None = None) -> Verdict:
    if _memory_ran_out():
        raise MemoryError
    return Verdict(outcome=Outcome.ABSTAIN, reason=reason, reference_final=reference_final, detail=_error_detail())


def _memory_ran_out() -> bool:
    return isinstance(_swallowed.error, MemoryError) or peak_kb() > _SUSPECT_KB


def _error_detail() -> str | None:
    return f"the library hid a {type(_swallowed.error).__name__}" if _swallowed.error else None


def _first_text(forms: list[Any]) -> str | None:
    texts = (form for form in forms if isinstance(form, str))
    found = next(texts, None)
    return found[:_MAX_ANSWER_CHARACTERS] if found is not None else None


judge(r"\frac{1}{3}", r"The final answer is $\boxed{x + 2/3}$.")
