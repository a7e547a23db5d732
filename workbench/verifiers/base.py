"""What a verifier is, and the registry that finds built-in and plug-in verifiers by name."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections import defaultdict
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint, entry_points
from typing import Any, ClassVar, Literal, Protocol

from msgspec import Struct, structs

from workbench.errors import UsageError, VerifierError, WorkbenchError
from workbench.model.verdict import Outcome, Verdict, VerifierInput

GROUP = "workbench.verifiers"
"""The entry-point group a package declares its verifiers in."""

Isolation = Literal["inline", "process"]

_LONGEST_REASON = 100
_LONGEST_TEXT = 20_000


class Verifier(Protocol):
    """Question, reference answer and completion in, verdict out.

    A class is one kind of verifier; an object is that kind with its options. The class is called with
    its options as keyword arguments, all of them text.

    Attributes:
        description: One line for lists.
        options: Every option's name and what it does.
        preload: Modules worth importing once for all worker processes.
        name: The kind's name in the registry, such as ``"math-verify"``.
        version: Version of the rules, parser or library; a new one makes a new run.
        isolation: ``"inline"`` only for code that can neither hang nor crash on any text.
    """

    description: ClassVar[str]
    options: ClassVar[dict[str, str]]
    preload: ClassVar[tuple[str, ...]] = ()
    name: str
    version: str
    isolation: Isolation

    def config(self) -> dict[str, object]:
        """The options in force, as plain data that JSON can hold."""
        ...

    def verify(self, item: VerifierInput) -> Verdict:
        """The verdict on one completion."""
        ...


class VerifierKind(Struct, frozen=True, kw_only=True):
    """One registered kind of verifier.

    Attributes:
        package: The distribution that brings it.
        broken: Why it can't be used, or None.
    """

    name: str
    package: str
    description: str = ""
    options: dict[str, str] = {}
    isolation: Isolation = "process"
    broken: str | None = None


def identity(verifier: Verifier) -> str:
    """A hash of the kind and its configuration; the version is kept beside it, not in it."""
    canonical = json.dumps(
        {"kind": verifier.name, "config": verifier.config()},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def judged(verifier: Verifier, item: VerifierInput) -> Verdict:
    """The verdict with its time; whatever the verifier raises or returns instead of one is the verdict "error".

    Raises:
        MemoryError: The verifier ran out of memory.
    """
    started = time.perf_counter()
    try:
        verdict: object = verifier.verify(item)
    except MemoryError:
        raise
    except Exception as error:
        verdict = failure(f"{type(error).__name__}: {error}")
    if not isinstance(verdict, Verdict):
        verdict = failure(f"the verifier returned a {type(verdict).__name__} instead of a Verdict")
    return structs.replace(
        verdict,
        reason=_cut(verdict.reason, _LONGEST_REASON),
        reference_final=_cut(verdict.reference_final, _LONGEST_TEXT),
        candidate_final=_cut(verdict.candidate_final, _LONGEST_TEXT),
        detail=_cut(verdict.detail, _LONGEST_TEXT),
        ms=(time.perf_counter() - started) * 1000,
    )


def failure(detail: str) -> Verdict:
    """The verdict "error" on an item that the verifier failed on."""
    return Verdict(outcome=Outcome.ERROR, reason="internal", detail=detail)


def _cut(text: str | None, length: int) -> str | None:
    # A plug-in may have put anything there; what is no text is refused when it is sent or stored.
    return text[:length] if isinstance(text, str) else text


class Registry:
    """The verifiers of all installed packages, as found when the registry is made."""

    def __init__(self) -> None:
        self._found: dict[str, list[EntryPoint]] = defaultdict(list)
        for point in entry_points(group=GROUP):
            self._found[point.name].append(point)

    def available(self) -> list[VerifierKind]:
        """All kinds by name; one that can't be used says why in ``broken``."""
        return [self._describe(name) for name in sorted(self._found)]

    def entry_point(self, kind: str) -> EntryPoint:
        """Where a kind comes from.

        Raises:
            UsageError: There is no such kind.
            VerifierError: Several packages bring one of this name.
        """
        points = self._found.get(kind, [])
        if not points:
            known = ", ".join(sorted(self._found)) or "none is installed"
            raise UsageError(f"There is no verifier named {kind!r}.", f"Known verifiers: {known}.")
        if len(points) > 1:
            packages = " and ".join(sorted(_package(point) for point in points))
            raise VerifierError(f"Both {packages} bring a verifier named {kind!r}.", "Uninstall one of them.")
        return points[0]

    def load(self, kind: str, options: dict[str, str] | None = None) -> Verifier:
        """Make a verifier.

        Args:
            kind: The registered name.
            options: Values by option name.

        Raises:
            UsageError: There is no such kind or option, or a value is wrong.
            VerifierError: The kind is registered but can't be used.
        """
        return build(self.entry_point(kind), options or {})

    def _describe(self, name: str) -> VerifierKind:
        package = ", ".join(sorted(_package(point) for point in self._found[name]))
        try:
            cls = _import(self.entry_point(name))
        except VerifierError as error:
            return VerifierKind(name=name, package=package, broken=str(error))
        return VerifierKind(
            name=name,
            package=package,
            description=cls.description,
            options=dict(cls.options),
            isolation=cls.isolation,
        )


def build(point: EntryPoint, options: dict[str, str]) -> Verifier:
    """Import an entry point's class and call it with its options.

    Raises:
        UsageError: An option is unknown or has a wrong value.
        VerifierError: The class can't be imported or made.
    """
    cls = _import(point)
    unknown = sorted(options.keys() - cls.options.keys())
    if unknown:
        known = ", ".join(sorted(cls.options)) or "it has none"
        raise UsageError(f"The verifier {point.name!r} has no option {unknown[0]!r}.", f"Its options: {known}.")
    try:
        with redirect_stdout(sys.stderr):
            verifier: Verifier = cls(**options)
    except ValueError as error:
        raise UsageError(f"The verifier {point.name!r} refuses its options: {error}") from error
    except WorkbenchError:
        raise
    except (Exception, SystemExit) as error:
        raise VerifierError(f"The verifier {point.name!r} can't be made: {type(error).__name__}: {error}") from error
    _require_identity(point, verifier)
    return verifier


def _require_identity(point: EntryPoint, verifier: Verifier) -> None:
    try:
        identity(verifier)
    except Exception as error:
        raise VerifierError(
            f"The config() of {point.name!r} is no plain data: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(getattr(verifier, "version", None), str):
        raise VerifierError(f"The verifier {point.name!r} has no version; it must be text.")
    if verifier.name != point.name:
        raise VerifierError(f"The verifier {point.name!r} calls itself {verifier.name!r}; both must be the same.")


def _import(point: EntryPoint) -> Any:
    """The entry point's class; whatever a plug-in's import raises becomes a VerifierError."""
    try:
        # A module that prints when it is imported must not end up between the lines of a report.
        with redirect_stdout(sys.stderr):
            cls = point.load()
    except (Exception, SystemExit) as error:
        raise VerifierError(
            f"The verifier {point.name!r} of {_package(point)} can't be imported: {type(error).__name__}: {error}"
        ) from error
    required = ("description", "options", "name", "isolation", "config", "verify")
    missing = [name for name in required if not hasattr(cls, name)]
    if missing:
        raise VerifierError(
            f"The verifier {point.name!r} of {_package(point)} is incomplete: {point.value} lacks {', '.join(missing)}."
        )
    return cls


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"
