"""The seccomp filter, interpreted: its answer for each system call."""

from __future__ import annotations

import errno
import struct
from typing import Any

import pytest

from workbench.verifiers.execution.inside import seccomp

GRANTED, AGAIN = 0x50000, 0x50000 | errno.EAGAIN
ALLOWED, REFUSED, UNKNOWN, KILLED = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS, 0x80000000
MACHINES = sorted(seccomp.MACHINES)
FORBIDDEN = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "pidfd_send_signal": (424, 424), "pidfd_open": (434, 434), "pidfd_getfd": (438, 438),
    "socket": (41, 198), "connect": (42, 203), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "setsid": (112, 157), "setpgid": (109, 154),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "chroot": (161, 51), "bpf": (321, 280),
    "io_uring_setup": (425, 425), "memfd_create": (319, 279), "userfaultfd": (323, 282), "keyctl": (250, 219),
    "perf_event_open": (298, 241), "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190),
    "mq_open": (240, 180), "unlinkat": (263, 35), "mkdirat": (258, 34), "renameat2": (316, 276),
    "symlinkat": (266, 36), "linkat": (265, 37), "fchmodat": (268, 53), "setuid": (105, 146), "capset": (126, 91),
    "seccomp": (317, 277), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "personality": (135, 92),
    "openat2": (437, 437), "ftruncate": (77, 46), "setxattr": (188, 5), "sched_setaffinity": (203, 122),
    "setpriority": (141, 140), "kcmp": (312, 272), "modify_ldt": (154, None), "landlock_create_ruleset": (444, 444),
}  # fmt: skip


SCRATCH: dict[str, Any] = {"more": [*seccomp.SCRATCH.values()], "locks": True}
"""What the filter gets where programs have a folder to write in."""
IN_A_FOLDER = {"unlinkat", "mkdirat", "renameat2", "fchmodat", "ftruncate"}


def answer(
    machine: str, number: int, *arguments: int, architecture: int | None = None, options: dict[str, Any] | None = None
) -> int:
    """Interpret the instructions of the filter and return the answer for a system call."""
    _, own = seccomp.MACHINES[machine]
    values = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=iIQ6Q", number, own if architecture is None else architecture, 0, *values)
    code = list(struct.iter_unpack("=HBBI", seccomp.program(machine, **options or {})))
    step = accumulator = 0
    while True:
        operation, yes, no, operand = code[step]
        step += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x06:
            return int(operand)
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}
            step += yes if holds[operation] else no


@pytest.mark.parametrize("machine", MACHINES)
def test_only_listed_calls_are_allowed(machine: str) -> None:
    place, _ = seccomp.MACHINES[machine]
    listed = {pair[place] for pair in seccomp.ALLOWED.values()}
    pairs = (seccomp.CLONE, seccomp.FCNTL, seccomp.IOCTL, seccomp.PRCTL, seccomp.PRLIMIT64)
    special = {pair[place] for pair in (*pairs, seccomp.FUTEX, seccomp.SOCKETPAIR, seccomp.SENDTO)}
    for number in {*range(600)} - special - {seccomp.CLONE3[place]}:
        assert answer(machine, number) == (ALLOWED if number in listed else REFUSED), number


@pytest.mark.parametrize("machine", MACHINES)
def test_dangerous_calls_are_denied(machine: str) -> None:
    place, _ = seccomp.MACHINES[machine]
    for name, pair in FORBIDDEN.items():
        if (number := pair[place]) is not None:
            assert answer(machine, number) == REFUSED, name


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_are_checked(machine: str) -> None:
    place, _ = seccomp.MACHINES[machine]
    thread, fork, user_namespace = 0x3D0F00, 17, 0x10000000
    for pair, arguments, wanted in [
        (seccomp.CLONE, (thread,), ALLOWED),
        (seccomp.CLONE, (0x7D0F00,), ALLOWED),
        (seccomp.CLONE, (fork,), REFUSED),
        (seccomp.CLONE, (thread | user_namespace,), REFUSED),
        (seccomp.CLONE, (thread & ~0x10000,), REFUSED),
        (seccomp.CLONE3, (), UNKNOWN),
        (seccomp.FCNTL, (3, 1), ALLOWED),
        (seccomp.FCNTL, (3, 8), REFUSED),
        (seccomp.FCNTL, (3, 1031), REFUSED),
        (seccomp.IOCTL, (1, 0x5401), ALLOWED),
        (seccomp.IOCTL, (1, 0x5412), REFUSED),
        (seccomp.PRCTL, (15,), ALLOWED),
        (seccomp.PRCTL, (4,), REFUSED),
        (seccomp.PRCTL, (1,), REFUSED),
        (seccomp.PRLIMIT64, (0, 7), ALLOWED),
        (seccomp.PRLIMIT64, (1, 7), REFUSED),
        (seccomp.FUTEX, (0, 128 | 1), ALLOWED),
        (seccomp.FUTEX, (0, 0), AGAIN),
        (seccomp.FUTEX, (0, 1), AGAIN),
        (seccomp.SOCKETPAIR, (1, 0x80001), ALLOWED),
        (seccomp.SOCKETPAIR, (1, 2), REFUSED),
        (seccomp.SOCKETPAIR, (2, 1), REFUSED),
        (seccomp.SENDTO, (3, 0, 1, 0, 0, 0), ALLOWED),
        (seccomp.SENDTO, (3, 0, 1, 0, 64, 16), REFUSED),
        (seccomp.SENDTO, (3, 0, 1, 0, 1 << 32, 16), REFUSED),
    ]:
        number = pair[place]
        assert number is not None
        assert answer(machine, number, *arguments) == wanted, (pair, arguments)


@pytest.mark.parametrize("machine", MACHINES)
def test_other_architectures(machine: str) -> None:
    assert answer(machine, 0, architecture=0x40000003) == KILLED
    assert answer(machine, 0x40000000) == REFUSED
    assert answer(machine, 0x40000000 | 57) == REFUSED
    assert answer(machine, -1) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_a_folder_allows_only_calls_that_change_files(machine: str) -> None:
    place, _ = seccomp.MACHINES[machine]
    added = {number for pair in seccomp.SCRATCH.values() if (number := pair[place]) is not None}
    closed = {number for number in range(600) if answer(machine, number) != answer(machine, number, options=SCRATCH)}
    assert closed == added
    for name, pair in FORBIDDEN.items():
        if (number := pair[place]) is not None and name not in IN_A_FOLDER:
            assert answer(machine, number, options=SCRATCH) == REFUSED, name
    for name, pair in {"mknod": (133, None), "mknodat": (259, 33), "symlink": (88, None), "link": (86, None)}.items():
        if (number := pair[place]) is not None:
            assert answer(machine, number, options=SCRATCH) == REFUSED, name
    fcntl = seccomp.FCNTL[place]
    answers = [answer(machine, fcntl, 3, command, options=SCRATCH) for command in (1, 5, 6, 7, 8, 37, 1024, 1031)]
    # No file system here supports these locks.
    assert answers == [ALLOWED, ALLOWED, GRANTED, GRANTED, REFUSED, REFUSED, REFUSED, REFUSED]
    assert answer(machine, fcntl, 3, 6) == REFUSED


def test_the_filter_fits() -> None:
    for machine in MACHINES:
        assert len(seccomp.program(machine)) // 8 < 320
        assert len(seccomp.program(machine, **SCRATCH)) // 8 < 384, "jumps are of 255 at most, and over a half"
