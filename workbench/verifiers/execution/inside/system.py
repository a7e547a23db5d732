"""Kernel calls that the standard library lacks."""

from __future__ import annotations

import ctypes
import os

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_KEEPCAPS = 8
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

_CAPABILITY_VERSION_3 = 0x20080522

libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
libc.syscall.restype = ctypes.c_long


def checked(result: int) -> int:
    """Return the result of a call of the C library.

    Raises:
        OSError: The call failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def prctl(option: int, value: int) -> None:
    """Set one property of this process.

    Raises:
        OSError: The kernel doesn't know the option, or rejects it.
    """
    checked(libc.prctl(option, value, 0, 0, 0))


def syscall(number: int, *arguments: object) -> int:
    """Call the kernel by number, with integers of 32 bits, text, or ctypes values for anything else.

    Raises:
        OSError: The kernel rejects the call.
    """
    return checked(libc.syscall(ctypes.c_long(number), *arguments))


def keep_capabilities(kept: int) -> None:
    """Give up all capabilities except those whose bits are set.

    Raises:
        OSError: The process doesn't have these capabilities.
    """
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    data = (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0)
    checked(libc.capset(header, data))
