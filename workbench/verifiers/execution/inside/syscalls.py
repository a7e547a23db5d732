"""Numbers of the system calls that a Python program needs, on x86_64 and aarch64.

Calls that aren't listed don't exist for a program: no processes, no signals to others, no sockets, no tracing, no
mounting, no keys, no named shared memory, no io_uring, and without a writable folder no file can be created, moved or
removed.
"""

from __future__ import annotations

import os


def _numbers(file: str) -> dict[str, tuple[int | None, ...]]:
    with open(os.path.join(os.path.dirname(__file__), file), encoding="ascii") as lines:
        rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {name: tuple(None if number == "-" else int(number) for number in numbers) for name, *numbers in rows}


ALLOWED = _numbers("allowed.txt")
"""Calls that are allowed with any arguments."""

SCRATCH = _numbers("scratch.txt")
"""Additional calls with a writable folder: Landlock and the mounts restrict them to it."""

FUTEX = (202, 98)
SOCKETPAIR = (53, 199)
SENDTO = (44, 206)
CLONE = (56, 220)
CLONE3 = (435, 435)
FCNTL = (72, 25)
IOCTL = (16, 29)
PRCTL = (157, 167)
PRLIMIT64 = (302, 261)
SECCOMP = (317, 277)
"""Calls whose arguments are checked, and the call that installs the filter."""

MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine name -> index in the pairs above, and the kernel's number of the architecture (``AUDIT_ARCH_...``)."""
