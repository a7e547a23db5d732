"""The sandbox levels that work on this machine: determined by attacking them, and remembered.

That a tool is installed says little: bubblewrap in a container, for instance, can't mount /proc. So a level is used
only if it has withstood attacks here, with this kernel, interpreter and version of workbench.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Final, cast

import msgspec
from msgspec import Struct
from platformdirs import user_cache_path

from workbench.config import trust
from workbench.config.file import write_whole
from workbench.config.trust import UNSAFE, UnsafeError
from workbench.core.code import Level
from workbench.core.errors import Command, RunError, UsageError, VerifierError, opt
from workbench.verifiers.base import SandboxedVerifier
from workbench.verifiers.execution.attacks.attack import SCRATCH_BYTES, AttackResult, corpus
from workbench.verifiers.execution.attacks.watching import UnusableLevelError, run_attacks
from workbench.verifiers.execution.settings import require_scratch

SAFE_LEVELS: Final[tuple[Level, ...]] = ("L3", "L2")
"""Levels that isolate a program, best first."""
_UNSAFE: Final[Level] = "L1"
_PACKAGE: Final = Path(__file__).parent
_SETTINGS: Final = (
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
    "/sys/kernel/security/lsm",
)
_STATUS: Final = ("NoNewPrivs", "Seccomp", "CapEff", "CapBnd")


class LevelStatus(Struct, frozen=True):
    """The status of a level on this machine.

    Attributes:
        level: The level.
        results: The result of each attack.
        unusable: Why it can't be used, or None.
    """

    level: Level
    results: tuple[AttackResult, ...] = ()
    unusable: str | None = None

    @property
    def holds(self) -> bool:
        return self.unusable is None and all(result.held for result in self.results)


def check_level(level: Level, *, first_use: bool = False, scratch: bool = False) -> list[AttackResult]:
    """Attack a level and return the results of all attacks that it has to withstand.

    Args:
        level: The level.
        first_use: Whether to run only the few attacks that a level has to withstand before its first use.
        scratch: Whether to attack a writable folder instead, which exists only at L3.

    Raises:
        UnusableLevelError: The level doesn't start on this machine.
    """
    attacks = [attack for attack in corpus(scratch=scratch) if attack.first or not first_use]
    return run_attacks(level, attacks, scratch=SCRATCH_BYTES if scratch else 0)


def survey_scratch() -> LevelStatus:
    """Attack a writable folder with all attacks, and remember if it withstands them."""
    found = _status("L3", scratch=True)
    if found.holds:
        _save_level(_cache_path("-scratch"), "L3")
    return found


def survey() -> list[LevelStatus]:
    """Attack every safe level with all attacks, and remember the best one that withstands them; best first."""
    with ThreadPoolExecutor(len(SAFE_LEVELS)) as executor:
        found = list(executor.map(_status, SAFE_LEVELS))
    if (best := next((standing.level for standing in found if standing.holds), None)) is not None:
        _save_level(_cache_path(), best)
    return found


def best_level(*, allow_unsafe: bool = False) -> Level:
    """Return the best level that works here; the first call on a machine takes some seconds, others reuse its result.

    Args:
        allow_unsafe: Whether to return ``"L1"`` if no level works: it limits a program's resources but isolates
            nothing.

    Raises:
        VerifierError: No level works.
    """
    place = _cache_path()
    level = _load_level(place) or _find_level(place)
    if level == _UNSAFE and not allow_unsafe:
        raise VerifierError(
            "Solutions can't be run here: this machine has no working sandbox.",
            "On Linux 5.13 or later with Landlock, the sandbox works without further software, and better with "
            "bubblewrap; "
            f"{Command('doctor DB')} says what is missing. To run them with resource limits only: "
            f"{opt.allow_unsafe_execution}.",
        )
    return level


def _find_level(place: Path) -> Level:
    for level in SAFE_LEVELS:
        if _withstands(level):
            _save_level(place, level)
            return level
    return _UNSAFE


def _withstands(level: Level, *, scratch: bool = False) -> bool:
    first = _status(level, first_use=True, scratch=scratch)
    return first.holds or (first.unusable is None and _status(level, first_use=True, scratch=scratch).holds)


def _status(level: Level, *, first_use: bool = False, scratch: bool = False) -> LevelStatus:
    try:
        return LevelStatus(level, tuple(check_level(level, first_use=first_use, scratch=scratch)))
    except UnusableLevelError as error:
        return LevelStatus(level, unusable=str(error))


def _cache_path(what: str = "") -> Path:
    about = [
        _package_version(),
        sys.version,
        os.path.realpath(sys.executable),
        os.getuid(),
        *_machine_facts(),
        _package_hash(),
    ]
    key = hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]
    return user_cache_path("workbench", appauthor=False) / f"sandbox-{key}{what}.json"


def _package_version() -> str:
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version("verifier-workbench")
    return ""


def _machine_facts() -> list[str]:
    about = [*platform.uname()[::2], _bubblewrap_version()]
    about += [_read_text(path) for path in _SETTINGS]
    about += [line for line in _read_text("/proc/self/status").splitlines() if line.startswith(_STATUS)]
    for kind in ("user", "pid", "mnt"):
        with contextlib.suppress(OSError):
            about.append(os.readlink(f"/proc/self/ns/{kind}"))
    return about


def _bubblewrap_version() -> str:
    path = shutil.which("bwrap")
    if path is None:
        return ""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return path + subprocess.run([path, "--version"], capture_output=True, text=True, timeout=5).stdout
    return path


def _package_hash() -> str:
    total = hashlib.sha256()
    for path in sorted(path for path in _PACKAGE.rglob("*") if path.suffix in (".py", ".toml", ".cjs", ".txt")):
        total.update(f"{path.relative_to(_PACKAGE)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _read_text(path: str) -> str:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return Path(path).read_text()
    return ""


def _load_level(place: Path) -> Level | None:
    try:
        with open(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
            about = os.fstat(stream.fileno())
            if not (
                stat.S_ISREG(about.st_mode)
                and _is_writable_only_by_owner(about)
                and _is_writable_only_by_owner(place.parent.stat())
            ):
                return None
            level: Level = msgspec.json.decode(stream.read(64), type=Level)
            return level
    except (OSError, msgspec.MsgspecError):
        return None


def _is_writable_only_by_owner(about: os.stat_result) -> bool:
    return about.st_uid == os.getuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _save_level(place: Path, level: Level) -> None:
    with contextlib.suppress(OSError, UsageError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(place, json.dumps(level))
        place.chmod(0o600)


# -- How foreign code is isolated on this machine, and whether the user permits that.


def level_of(wanted: str, *, allow_unsafe: bool, scratch: bool = False) -> Level:
    """Return the level that solutions are run at.

    Args:
        wanted: A `Level`, or ``"best"`` for the highest that works here.
        allow_unsafe: Whether the user has approved resource limits without isolation.
        scratch: Whether solutions need a writable folder.

    Raises:
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError: This machine doesn't support the level, or the writable folder.
        VerifierError: The level has no writable folder.
    """
    level = best_level(allow_unsafe=True) if wanted == "best" else _require_held_level(cast("Level", wanted))
    if level == "L1" and not allow_unsafe:
        raise UnsafeError
    if scratch:
        require_scratch(level)
        _require_held_scratch()
    return level


def _require_held_scratch() -> None:
    place = _cache_path("-scratch")
    if _load_level(place):
        return
    if not _withstands("L3", scratch=True):
        raise RunError(
            "A scratch folder can't be isolated on this machine.",
            f"Leave {opt.option:scratch} out; {Command('doctor DB')} shows what succeeded or is missing.",
        )
    _save_level(place, "L3")


def _require_held_level(level: Level) -> Level:
    if level == "L1" or level == (best := best_level(allow_unsafe=True)):
        return level
    if level > best or not all(attack.held for attack in check_level(level, first_use=True)):
        raise RunError(
            f"Isolation {level} is not available on this machine; {best} is.",
            f"Leave {opt.option:isolation} out to use the best level; {Command('doctor DB')} says more.",
        )
    return level


def allowed_level(database: Path, verifier: SandboxedVerifier) -> Level:
    """Return the level of a queued run that the user of this account has approved.

    Raises:
        UnsafeError: Only resource limits would apply, and the user has not approved that.
        RunError: This machine doesn't support the level, or the writable folder.
        VerifierError: The level has no writable folder.
    """
    unsafe = not trust.missing_grants(database, [UNSAFE])
    return level_of(verifier.wanted, allow_unsafe=unsafe, scratch=verifier.scratch > 0)
