"""Landlock: restricts this process to some files, and denies it ports, socket names and foreign processes.

Numbers from ``linux/landlock.h``; each version of the interface adds rights, and those unknown to the kernel are
omitted. The calls have the same numbers on all architectures.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable

from .system import syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

EXECUTE, _WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE = 1 << 13, 1 << 14
ALL_FILES = (1 << 13) - 1
_FILES = {1: ALL_FILES, 2: _REFER, 3: _TRUNCATE, 5: 1 << 15}
"""Rights over files by the version that added them: the first thirteen, refer, truncate, ioctl on devices."""

SCRATCH = READ_FILE | READ_DIR | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE | _REFER | _TRUNCATE
"""Rights over a folder in which files and folders can be created, moved and removed, but not executed."""

_PORTS = {4: 0b11}
"""Rights over TCP ports by the version that added them: bind and connect."""

_SCOPES = {6: 0b11}
"""Restrictions to this sandbox by the version that added them: abstract UNIX sockets and signals."""


def version() -> int:
    """Return the version of the kernel's Landlock interface, from 1; 0 if the kernel lacks it."""
    try:
        return syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


def restrict(
    readable: Iterable[str],
    listable: Iterable[str],
    writable: Iterable[str],
    abi: int,
    others: Iterable[tuple[str, int]] = (),
) -> None:
    """Deny this process and its children everything but these files.

    Args:
        readable: Files and whole folders that can be read.
        listable: Folders that can be listed, including their subfolders.
        writable: Files that can be read and written.
        abi: The result of `version`, at least 1.
        others: Further paths, each with its Landlock rights.

    Raises:
        OSError: The kernel rejects the request.
    """
    ruleset = _ruleset(
        _supported_rights(_FILES, abi), _supported_rights(_PORTS, abi), _supported_rights(_SCOPES, abi), abi
    )
    for path in readable:
        _allow(ruleset, path, READ_FILE | (READ_DIR if os.path.isdir(path) else 0))
    for path in listable:
        _allow(ruleset, path, READ_DIR)
    for path in writable:
        _allow(ruleset, path, READ_FILE | _WRITE_FILE)
    for path, rights in others:
        _allow(ruleset, path, rights & _supported_rights(_FILES, abi))
    _enforce(ruleset)


def _supported_rights(rights: dict[int, int], abi: int) -> int:
    return sum(bits for since, bits in rights.items() if since <= abi)


def _ruleset(files: int, ports: int, scopes: int, abi: int) -> int:
    fields = [files, ports, scopes][: 1 + (abi >= min(_PORTS)) + (abi >= min(_SCOPES))]
    attributes = struct.pack(f"{len(fields)}Q", *fields)
    return syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = struct.pack("=Qi", rights, descriptor)
        syscall(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(descriptor)


def _enforce(ruleset: int) -> None:
    try:
        syscall(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
