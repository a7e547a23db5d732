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
        stop_early: Whether to skip the tests after the first that doesn't pass (their outcome is ``n``).
        fresh_namespace: Whether to execute the program again before each test, in the same process with new globals, as
            Scoring Verifiers does.
        fresh_per_test: Whether each test gets a separate process, in which the program is executed again.
        memory_bytes: Address space of a program, and the content of its files.
        scratch_bytes: Size of a writable folder, as a part of the memory; 0 for none. Only at level L3.
        output_bytes: The maximum output of a ``stdio`` program, and the minimum limit of a value's size.
        seconds_total: Seconds that all tests of a solution may take, computing or asleep; the outcome of the remaining
            tests is ``n``.
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


def require_scratch(level: Level) -> None:
    """Check that a program can have a writable folder.

    Raises:
        VerifierError: The level has no writable folder.
    """
    if level != "L3":
        raise VerifierError(
            f"Only isolation L3 has a scratch folder, not {level}.",
            f"Install bubblewrap, or leave {opt.option:scratch} out; {Command('doctor DB')} says what works here.",
        )
