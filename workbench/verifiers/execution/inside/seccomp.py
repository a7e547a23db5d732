"""seccomp: the system calls a program may make, as a filter that the kernel runs before each call.

The filter is classic BPF over ``struct seccomp_data`` (number, architecture, address, six arguments of 64 bits). It
is an allow list, since a deny list would miss calls that future kernels add. Calls that aren't listed don't exist for
a program: no processes, no signals to others, no sockets, no tracing, no mounting, no keys, no named shared memory, no
io_uring, and without a writable folder no file can be created, moved or removed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Sequence

from .system import syscall

# -- Numbers of the system calls that a Python program needs, on x86_64 and aarch64.


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

# -- The filter.


_LOAD = 0x20
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_REFUSE = 0x00050000

_NUMBER, _ARCHITECTURE = 0, 4
_ARGUMENT = 16
_X32 = 0x40000000
_SET_MODE_FILTER = 1

_THREAD = 0x10000
_THREAD_FLAGS = 0x7D0F00
"""``CLONE_`` flags of a thread: memory, files, handlers, thread group, semaphores, TLS and thread ids."""

_FCNTL = (0, 1, 2, 3, 4, 1030)
"""Duplicate, and get and set flags; no owner, lease, notification, lock, pipe size or seal."""

_GET_LOCK = 5
_SET_LOCK = (6, 7)
"""``F_SETLK`` and ``F_SETLKW``."""

_PRIVATE_FUTEX = 128
_UNIX = 1
_STREAM = (0x1, 0x801, 0x80001, 0x80801)
"""``SOCK_STREAM``, with or without ``SOCK_NONBLOCK`` and ``SOCK_CLOEXEC``."""

_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Terminal test and size, bytes to read, blocking mode, and close on exec."""

_PRCTL = (15, 16)
"""Set and get a thread's name."""

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""


def program(machine: str, more: Iterable[tuple[int | None, ...]] = (), locks: bool = False) -> bytes:
    """Build the filter for a machine (a key of `MACHINES`), as an array of ``struct sock_filter``.

    Args:
        machine: The machine's name.
        more: Numbers of additionally allowed calls, as in `ALLOWED`.
        locks: Whether requests for locks seem to succeed, as databases need.

    Raises:
        KeyError: The machine is not supported.
    """
    place, architecture = MACHINES[machine]
    refuse = _return(_REFUSE | errno.EPERM)
    allow = _return(_ALLOW)
    code = [
        _load(_ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        _return(_KILL_PROCESS),
        _load(_NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        refuse,
    ]
    code += _if_call(CLONE3[place], [_return(_REFUSE | errno.ENOSYS)])
    code += _if_call(CLONE[place], _allow_only_threads())
    # A futex that isn't private is shared with every process that maps the file. The C library retries after EAGAIN.
    again = _return(_REFUSE | errno.EAGAIN)
    code += _if_call(FUTEX[place], [_load(_ARGUMENT + 8), (_ANY_BIT, 0, 1, _PRIVATE_FUTEX), allow, again])
    unix = [_load(_ARGUMENT), (_EQUAL, 1, 0, _UNIX), refuse]
    code += _if_call(SOCKETPAIR[place], [*unix, *_allow_values(1, _STREAM)])
    # To no address: both halves of the pointer are zero.
    half = [_load(_ARGUMENT + 8 * 4 + 4), (_EQUAL, 1, 0, 0), refuse]
    code += _if_call(SENDTO[place], [*half, *_allow_values(4, (0,))])
    if locks:
        # No other process shares its folder, so every lock succeeds; a lock on a file of the machine would be visible
        # there.
        granted = _return(_REFUSE)
        code += _if_call(
            FCNTL[place],
            [_load(_ARGUMENT + 8), *_grant_set_lock(granted), *_allow_values(1, (*_FCNTL, _GET_LOCK))],
        )
    for pair, argument, values in (
        (FCNTL, 1, _FCNTL),
        (IOCTL, 1, _IOCTL),
        (PRCTL, 0, _PRCTL),
        (PRLIMIT64, 0, (0,)),
    ):
        code += _if_call(pair[place], _allow_values(argument, values))
    numbers = sorted(number for pair in (*ALLOWED.values(), *more) if (number := pair[place]) is not None)
    code += _search(_merge_to_ranges(numbers), allow, refuse)
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


class Filter:
    """A filter with its memory prepared in advance, so that a child has little to do.

    Args:
        code: From `program`.
        machine: The machine it was built for.
    """

    def __init__(self, code: bytes, machine: str) -> None:
        self._code = ctypes.create_string_buffer(code, len(code))
        # struct sock_fprog: a count of instructions and their address.
        self._described = struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code))
        self._number = SECCOMP[MACHINES[machine][0]]

    def confine(self) -> None:
        """Apply the filter permanently to this process, which has given up new privileges, and its future threads.

        Raises:
            OSError: The kernel rejects the filter.
        """
        syscall(self._number, _SET_MODE_FILTER, 0, self._described)


def _load(offset: int) -> Instruction:
    return (_LOAD, 0, 0, offset)


def _return(what: int) -> Instruction:
    return (_RETURN, 0, 0, what)


def _if_call(number: int, body: list[Instruction]) -> list[Instruction]:
    return [(_EQUAL, 0, len(body), number), *body]


def _allow_only_threads() -> list[Instruction]:
    return [
        _load(_ARGUMENT),
        (_ANY_BIT, 0, 2, _THREAD),
        (_ANY_BIT, 1, 0, 0xFFFFFFFF & ~_THREAD_FLAGS),
        _return(_ALLOW),
        _return(_REFUSE | errno.EPERM),
    ]


def _grant_set_lock(granted: Instruction) -> list[Instruction]:
    first, second = _SET_LOCK
    return [(_EQUAL, 1, 0, first), (_EQUAL, 0, 1, second), granted]


def _allow_values(argument: int, values: Sequence[int]) -> list[Instruction]:
    """Allow the call if the lower half of an argument is one of these values; these kernels use 32 bits of them."""
    tests: list[Instruction] = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [_load(_ARGUMENT + 8 * argument), *tests, _return(_REFUSE | errno.EPERM), _return(_ALLOW)]


def _merge_to_ranges(numbers: Sequence[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and found[-1][1] == number:
            found[-1] = (found[-1][0], number + 1)
        else:
            found.append((number, number + 1))
    return found


def _search(ranges: list[tuple[int, int]], inside: Instruction, outside: Instruction) -> list[Instruction]:
    if len(ranges) == 1:
        first, end = ranges[0]
        return [(_AT_LEAST, 0, 2, first), (_AT_LEAST, 1, 0, end), inside, outside]
    middle = len(ranges) // 2
    low, high = _search(ranges[:middle], inside, outside), _search(ranges[middle:], inside, outside)
    return [(_AT_LEAST, len(low), 0, ranges[middle][0]), *low, *high]
