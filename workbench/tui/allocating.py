"""Memory that has been freed goes back to the system, where the C library can be asked for that."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Of glibc's mallopt."""


def give_back_arrays() -> None:
    """Have long arrays allocated on their own, so that each goes back when it is freed, and threads share arenas.

    Left alone, glibc raises that length with every array that is freed, and keeps what each thread once needed.
    """
    with suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, 2**18)
        library.mallopt(_ARENA_MAX, 2)
