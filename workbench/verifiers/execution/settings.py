"""How solutions are run: what may differ from one run to the next."""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class PoolSettings(Struct, frozen=True, kw_only=True):
    """What a pool's programs get, and what is asked of each solution.

    Attributes:
        hash_seed: PYTHONHASHSEED of the interpreter that runs programs, and where its random numbers start.
        stop_early: After the first test that doesn't pass the rest is not run (``n``).
        fresh_namespace: The program is executed again, in the same process but in globals of its own, before each
            test, as Scoring Verifiers do.
        fresh_per_test: Each test gets a process of its own, in which the program is executed again.
        memory_bytes: Address space of a program.
        output_bytes: What a ``stdio`` program may write, and the least a value may take on its way out.
        seconds_total: Seconds a solution may take for all its tests together, computing or asleep; what is left then is
            ``n``.
        python: Another interpreter, whose packages programs may import; by default this one, without packages.
    """

    hash_seed: int = 0
    stop_early: bool = False
    fresh_namespace: bool = False
    fresh_per_test: bool = False
    memory_bytes: int = 2**30
    output_bytes: int = 2**22
    seconds_total: float = 60.0
    python: str | None = None


DEFAULTS: Final = PoolSettings()
"""What holds where nothing else is said."""
