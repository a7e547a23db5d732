"""The registry that finds built-in and plug-in verifiers by name, and creates them."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from threading import Lock, local
from typing import Any, TextIO, cast

from msgspec import Struct

from workbench.core.errors import Command, OptionError, UsageError, VerifierError, WorkbenchError
from workbench.core.installed import CORE_ALONE, GET_APP, has_app
from workbench.verifiers.base import AnyVerifier, Configured, Isolation, Verifier, identity

GROUP = "workbench.verifiers"
"""The entry-point group a package declares its verifiers in."""

_METHODS: dict[str, tuple[str, ...]] = {
    "staged": ("verify", "quick"),
    "served": ("servers", "limits", "calls_per_item", "judge"),
    "sandbox": ("settings", "programs", "verdict"),
}


class VerifierKind(Struct, frozen=True, kw_only=True):
    """One registered kind of verifier.

    Attributes:
        package: The distribution that provides it.
        version: The class's version, if it doesn't depend on options.
        choices: Options with a fixed set of values -> these values.
        broken: Why it can't be used, or None.
    """

    name: str
    package: str
    version: str | None = None
    description: str = ""
    options: dict[str, str] = {}
    choices: dict[str, tuple[str, ...]] = {}
    isolation: Isolation = "process"
    broken: str | None = None


class Registry:
    """The verifiers of all installed packages, as found when the registry is created."""

    def __init__(self) -> None:
        self._found: dict[str, list[EntryPoint]] = defaultdict(list)
        for point in entry_points(group=GROUP):
            self._found[point.name].append(point)

    def available(self) -> list[VerifierKind]:
        """Return all kinds by name; one that can't be used has the reason in ``broken``."""
        return [self._describe(name) for name in sorted(self._found)]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._found)

    def knows(self, kind: str) -> bool:
        return kind in self._found

    def entry_point(self, kind: str) -> EntryPoint:
        """Return a kind's entry point.

        Raises:
            UsageError: No such kind exists.
            VerifierError: Several packages provide a kind with this name.
        """
        points = self._found.get(kind, [])
        if not points:
            known = ", ".join(sorted(self._found)) or "none is installed"
            raise UsageError(f"There is no verifier named {kind!r}.", f"Known verifiers: {known}.")
        if len(points) > 1:
            packages = " and ".join(sorted(_package_name(point) for point in points))
            raise VerifierError(f"Both {packages} provide a verifier named {kind!r}.", "Uninstall one of them.")
        return points[0]

    def load(self, kind: str, options: dict[str, str] | None = None) -> AnyVerifier:
        """Create a verifier.

        Args:
            kind: The registered name.
            options: Values by option name.

        Raises:
            UsageError: There is no such kind or option, or a value is wrong.
            VerifierError: The kind is registered but can't be used.
        """
        return build(self.entry_point(kind), options or {})

    def local(self, kind: str, options: dict[str, str] | None = None) -> Verifier:
        """Create a local verifier; also raises as `load` does.

        Raises:
            UsageError: The verifier calls a model server, or runs programs.
        """
        return require_local(self.load(kind, options))

    def _describe(self, name: str) -> VerifierKind:
        package = ", ".join(sorted(_package_name(point) for point in self._found[name]))
        try:
            cls = _import(self.entry_point(name))
        except VerifierError as error:
            return VerifierKind(name=name, package=package, broken=str(error))
        return VerifierKind(
            name=name,
            package=package,
            version=getattr(cls, "version", None),
            description=cls.description,
            options=dict(cls.options),
            choices=dict(getattr(cls, "choices", {})),
            isolation=cls.isolation,
        )


def require_local(verifier: AnyVerifier) -> Verifier:
    """Return the verifier if it is local: it judges an item from its texts, in this process or a worker.

    Raises:
        UsageError: The verifier calls a model server, or runs programs.
    """
    if verifier.isolation in ("served", "sandbox"):
        does = "asks a model server" if verifier.isolation == "served" else "runs programs"
        raise UsageError(f"{verifier.name!r} {does}; it works in runs only.", "Use", Command("verify"))
    return cast("Verifier", verifier)


class _LoadingOutput:
    """Redirects standard output while plug-ins are loaded: output of a loading thread goes to standard error.

    `contextlib.redirect_stdout` is process-wide: output of other threads would be lost, and two overlapping threads
    would leave it redirected.
    """

    def __init__(self) -> None:
        self._lock, self._here = Lock(), local()
        self._loading = 0
        self._output: TextIO = sys.stdout

    @contextmanager
    def redirect_output(self) -> Iterator[None]:
        with self._lock:
            # Code that redirected the output during loading has restored this object afterwards.
            if not self._loading and cast("object", sys.stdout) is not self:
                self._output, sys.stdout = sys.stdout, cast("TextIO", self)
            self._loading += 1
        depth = getattr(self._here, "depth", 0)
        self._here.depth = depth + 1
        try:
            yield
        finally:
            self._here.depth = depth
            with self._lock:
                self._loading -= 1
                if not self._loading and cast("object", sys.stdout) is self:
                    sys.stdout = self._output

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if getattr(self._here, "depth", 0) else self._output, name)


_PRINTED = _LoadingOutput()


def build(point: EntryPoint, options: dict[str, str]) -> AnyVerifier:
    """Import an entry point's class and call it with its options.

    Raises:
        UsageError: An option is unknown.
        OptionError: An option has a wrong value.
        VerifierError: The class can't be imported or instantiated.
    """
    cls = _import(point)
    unknown = sorted(options.keys() - cls.options.keys() - getattr(cls, "filled_in", frozenset()))
    if unknown:
        known = ", ".join(sorted(cls.options)) or "it has none"
        raise UsageError(f"The verifier {point.name!r} has no option {unknown[0]!r}.", f"Its options: {known}.")
    try:
        with _PRINTED.redirect_output():
            verifier: AnyVerifier = cls(**options)
    except ValueError as error:
        option, colon, wrong = str(error).partition(": ")
        where = f"The verifier {point.name!r} rejects its options: "
        raise OptionError(option if colon else None, wrong or str(error), where) from error
    except WorkbenchError:
        raise
    except (Exception, SystemExit) as error:
        raise VerifierError(f"The verifier {point.name!r} can't be created: {type(error).__name__}: {error}") from error
    _require_identity(point, verifier)
    return verifier


def _require_identity(point: EntryPoint, verifier: Configured) -> None:
    try:
        identity(verifier)
    except Exception as error:
        raise VerifierError(
            f"The config() of {point.name!r} is not plain data: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(getattr(verifier, "version", None), str):
        raise VerifierError(f"The verifier {point.name!r} has no version; it must be text.")
    if verifier.name != point.name:
        raise VerifierError(f"The verifier {point.name!r} calls itself {verifier.name!r}; both must be the same.")


def _import(point: EntryPoint) -> Any:
    try:
        # A module that prints during its import must not write between the lines of a report.
        with _PRINTED.redirect_output():
            cls = point.load()
    except VerifierError:
        raise
    except (Exception, SystemExit) as error:
        if (getattr(error, "name", None) or "").startswith("workbench.") and not has_app():
            raise VerifierError(f"The verifier {point.name!r} takes {CORE_ALONE}", GET_APP) from error
        raise VerifierError(
            f"The verifier {point.name!r} of {_package_name(point)} can't be imported: {type(error).__name__}: {error}"
        ) from error
    required: tuple[str, ...] = ("description", "options", "name", "isolation", "config")
    required += _METHODS.get(getattr(cls, "isolation", ""), ("verify",))
    missing = [name for name in required if not hasattr(cls, name)]
    if missing:
        raise VerifierError(
            f"The verifier {point.name!r} of {_package_name(point)} is incomplete: "
            f"{point.value} lacks {', '.join(missing)}."
        )
    return cls


def _package_name(point: EntryPoint) -> str:
    return point.dist.name if point.dist else "an unknown package"
