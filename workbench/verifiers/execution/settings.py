"""Settings of running solutions that may differ between runs."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from workbench.core.code import Level
from workbench.core.errors import Command, VerifierError, opt


class PoolSettings(Struct, frozen=True, kw_only=True):
    """Settings of a pool's programs.

    Attributes:
        hash_seed: PYTHONHASHSEED of the interpreter that runs programs, and the seed of its random numbers.
        stop_early: After the first test that doesn't pass the rest is not run (``n``).
        fresh_namespace: The program is executed again, in the same process but in globals of its own, before each
            test, as Scoring Verifiers do.
        fresh_per_test: Each test gets a process of its own, in which the program is executed again.
        memory_bytes: Address space of a program, and the content of its files.
        scratch_bytes: What it may write in a folder, out of that; 0: there is none. At level L3 only.
        output_bytes: The maximum output of a ``stdio`` program, and the least a value may take on its way out.
        seconds_total: Seconds a solution may take for all its tests together, computing or asleep; the remaining tests
            are ``n``.
        python: Another interpreter, whose packages programs may import; by default this one, without packages.
    """

    hash_seed: int = 0
    stop_early: bool = False
    fresh_namespace: bool = False
    fresh_per_test: bool = False
    memory_bytes: int = 2**30
    scratch_bytes: int = 0
    output_bytes: int = 2**22
    seconds_total: float = 60.0
    python: str | None = None


DEFAULTS: Final = PoolSettings()
"""The default."""


def require_scratch(level: Level) -> None:
    """Make sure that a program can have a folder to write in.

    Raises:
        VerifierError: Not at this level.
    """
    if level != "L3":
        raise VerifierError(
            f"A scratch folder is there at isolation L3 only, not at {level}.",
            f"Install bubblewrap, or leave {opt.option:scratch} out; {Command('doctor DB')} says what holds here.",
        )
