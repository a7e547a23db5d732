"""How code of others is kept in on this machine, and whether its user lets it run like that."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from workbench.config import trust
from workbench.config.trust import UNSAFE, UnsafeError
from workbench.core.code import Level
from workbench.core.errors import RunError
from workbench.verifiers.base import SandboxedVerifier
from workbench.verifiers.execution.levels import best_level, check_level


def level_of(wanted: str, *, allow_unsafe: bool) -> Level:
    """The level that solutions are run at.

    Args:
        wanted: A `Level`, or ``"best"`` for the highest that holds here.
        allow_unsafe: The user has agreed to limits alone.

    Raises:
        UnsafeError: There would be limits alone, and the user has not agreed to that.
        RunError: The level doesn't hold on this machine.
    """
    level = best_level(allow_unsafe=True) if wanted == "best" else _held(cast("Level", wanted))
    if level == "L1" and not allow_unsafe:
        raise UnsafeError
    return level


def _held(level: Level) -> Level:
    """The level, if it holds here; one that is not the best is tried each time."""
    if level == "L1" or level == (best := best_level(allow_unsafe=True)):
        return level
    if level > best or not all(attack.held for attack in check_level(level, first_use=True)):
        raise RunError(
            f"Isolation {level} doesn't hold on this machine; {best} does.",
            "Leave -o isolation out for the best there is; workbench doctor DB tells more.",
        )
    return level


def allowed_level(database: Path, verifier: SandboxedVerifier) -> Level:
    """The level for a run that was queued, by whomever, with what the user of this account has accepted.

    Raises:
        NotTrustedError: The user has not accepted the interpreter that the verifier names.
        UnsafeError: There would be limits alone, and the user has not agreed to that.
        RunError: The level doesn't hold on this machine.
    """
    if verifier.interpreter is not None:
        trust.require_grants(database, [trust.interpreter_grant(verifier.interpreter)])
    return level_of(verifier.wanted, allow_unsafe=not trust.missing(database, [UNSAFE]))
