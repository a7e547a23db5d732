"""Verifiers that are functions: a verifier without state needs no class.

    @verifier("ends-with", version="1", isolation="inline")
    def ends_with(item: VerifierInput, *, fold: Annotated[bool, Meta(description="ignore case")] = False) -> Verdict:
        '''The reply ends with the reference.'''

The signature is the options, the docstring's first line the description.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from workbench.core.errors import VerifierError
from workbench.core.options import RecordField, field_of
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Isolation
from workbench.verifiers.option_record import describe, read, words


class FunctionVerifier:
    """A function as a verifier; options given as text are parsed by the function's annotations.

    Raises:
        ValueError: An option has a wrong value; the message begins with its name.
    """

    description: ClassVar[str]
    options: ClassVar[dict[str, str]]
    choices: ClassVar[dict[str, tuple[str, ...]]]
    preload: ClassVar[tuple[str, ...]]
    name: str
    version: str
    isolation: Isolation
    _function: ClassVar[Callable[..., Verdict]]
    _fields: ClassVar[dict[str, RecordField]]

    def __init__(self, /, **options: str) -> None:
        values = {name: read(self._fields[name], text) for name, text in options.items()}
        self._options = {name: field.default for name, field in self._fields.items()} | values

    def config(self) -> dict[str, object]:
        return dict(self._options)

    def verify(self, item: VerifierInput) -> Verdict:
        return type(self)._function(item, **self._options)


def verifier(
    name: str, *, version: str, isolation: Isolation = "process", preload: tuple[str, ...] = ()
) -> Callable[[Callable[..., Verdict]], type[FunctionVerifier]]:
    """Create a verifier from a function that takes an item, and options as keyword arguments.

    Args:
        name: The registered name.
        version: Version of its behaviour; a new one requires a new run.
        isolation: ``"inline"`` only for code that can neither hang nor crash on any text.
        preload: Modules worth importing once for all worker processes.

    Raises:
        VerifierError: The function has another signature, or an option lacks a plain type or a default.
    """

    def make(function: Callable[..., Verdict]) -> type[FunctionVerifier]:
        hints = get_type_hints(function, include_extras=True)
        if wrong := next(_find_errors(function, isolation, hints), None):
            raise VerifierError(f"The verifier {name!r} can't be the function {function.__name__}: {wrong}.")
        parameters = list(inspect.signature(function).parameters.values())[1:]
        options = {one.name: field_of(one.name, hints[one.name], one.default) for one in parameters}
        fields: dict[str, Any] = {
            "__doc__": function.__doc__,
            "__module__": function.__module__,
            "name": name,
            "version": version,
            "isolation": isolation,
            "preload": preload,
            "description": (inspect.getdoc(function) or "").partition("\n")[0].removesuffix("."),
            "options": {option: describe(field) for option, field in options.items()},
            "choices": {option: few for option, field in options.items() if (few := words(field))},
            "_function": staticmethod(function),
            "_fields": options,
        }
        return type(function.__name__, (FunctionVerifier,), fields)

    return make


_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
_PLAIN = {str, int, float, bool, NoneType}


def _find_errors(function: Callable[..., Any], isolation: Isolation, hints: dict[str, Any]) -> Iterator[str]:
    if isolation not in ("inline", "process"):
        yield f"{isolation!r} takes a class"
    if inspect.iscoroutinefunction(function):
        yield "it is async, and its caller doesn't wait"
    if not inspect.getdoc(function):
        yield "it lacks the docstring that lists show"
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in (inspect.Parameter.POSITIONAL_ONLY, _EITHER):
        yield "its first parameter is the item"
    for one in parameters[1:]:
        if one.kind is not one.KEYWORD_ONLY:
            yield f"{one.name} is not an option: options come after a *"
        elif one.default is one.empty:
            yield f"{one.name} has no default"
        elif one.name not in hints or not _is_plain_type(hints[one.name]):
            yield f"{one.name} is to be text, a number, a bool or a Literal, so that text can say it"


def _is_plain_type(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return all(map(_is_plain_type, get_args(hint)))
    return _is_plain_type(get_args(hint)[0]) if origin is Annotated else origin is Literal or hint in _PLAIN
