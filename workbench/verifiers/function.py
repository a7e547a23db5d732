"""Verifiers that are functions: what has no state needs no class.

    @verifier("ends-with", version="1", isolation="inline")
    def ends_with(item: VerifierInput, *, fold: Annotated[bool, Meta(description="ignore case")] = False) -> Verdict:
        \"\"\"The reply ends with the reference.\"\"\"

The signature is the options, the docstring's first line the description.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Isolation


class FunctionVerifier:
    """A function as a verifier; its options come as text and are read by the function's annotations.

    Raises:
        ValueError: An option has a wrong value; the message begins with its name.
    """

    description: ClassVar[str]
    options: ClassVar[dict[str, str]]
    preload: ClassVar[tuple[str, ...]]
    name: str
    version: str
    isolation: Isolation
    _function: ClassVar[Callable[..., Verdict]]
    _hints: ClassVar[dict[str, Any]]
    _defaults: ClassVar[dict[str, Any]]

    def __init__(self, **options: str) -> None:
        self._options = self._defaults | {name: _read(name, text, self._hints[name]) for name, text in options.items()}

    def config(self) -> dict[str, object]:
        """The options in force."""
        return dict(self._options)

    def verify(self, item: VerifierInput) -> Verdict:
        """What the function says."""
        return type(self)._function(item, **self._options)


def verifier(
    name: str, *, version: str, isolation: Isolation = "process", preload: tuple[str, ...] = ()
) -> Callable[[Callable[..., Verdict]], type[FunctionVerifier]]:
    """Make a verifier of a function that takes an item, and its options by keyword.

    Args:
        name: As registered.
        version: Of what it does; a new one makes a new run.
        isolation: ``"inline"`` only for code that can neither hang nor crash on any text.
        preload: Modules worth importing once for all worker processes.
    """

    def make(function: Callable[..., Verdict]) -> type[FunctionVerifier]:
        hints = get_type_hints(function, include_extras=True)
        taken = [one for one in inspect.signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
        fields: dict[str, Any] = {
            "__doc__": function.__doc__,
            "__module__": function.__module__,
            "name": name,
            "version": version,
            "isolation": isolation,
            "preload": preload,
            "description": (inspect.getdoc(function) or "").partition("\n")[0].removesuffix("."),
            "options": {one.name: _meaning(hints[one.name]) for one in taken},
            "_function": staticmethod(function),
            "_hints": hints,
            "_defaults": {one.name: one.default for one in taken},
        }
        return type(function.__name__, (FunctionVerifier,), fields)

    return make


def _meaning(hint: Any) -> str:
    metas = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((meta.description for meta in metas if isinstance(meta, Meta) and meta.description), "")


def _read(name: str, text: str, hint: Any) -> Any:
    try:
        return msgspec.convert(text, hint, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from None
