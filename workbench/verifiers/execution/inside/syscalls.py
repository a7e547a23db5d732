"""Numbers of the system calls that a Python program needs, on x86_64 and aarch64.

Calls that aren't listed don't exist for a program: no processes, no signals to others, no sockets, no tracing, no
mounting, no keys, no named shared memory, no io_uring, and without a writable folder no file can be created, moved or
removed.
"""

from __future__ import annotations

ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # Files that Landlock permits, and the program's own pipes.
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "lseek": (8, 62),
    "close": (3, 57),
    "close_range": (436, 436),
    "fstat": (5, 80),
    "stat": (4, None),
    "lstat": (6, None),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "open": (2, None),
    "openat": (257, 56),
    "getdents64": (217, 61),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "fadvise64": (221, 223),
    # From the other end of its own socketpair, with which asyncio wakes its loop; it has no other socket.
    "recvfrom": (45, 207),
    # Memory.
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mprotect": (10, 226),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    # Information about itself and the machine.
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getpgrp": (111, None),
    "getpgid": (121, 155),
    "getsid": (124, 156),
    "getgroups": (115, 158),
    "times": (100, 153),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    "umask": (95, 166),
    # Threads and its own end.
    "exit": (60, 93),
    "exit_group": (231, 94),
    "wait4": (61, 260),
    "waitid": (247, 95),
    "sched_yield": (24, 124),
    "set_tid_address": (218, 96),
    "set_robust_list": (273, 99),
    "rseq": (334, 293),
    "membarrier": (324, 283),
    # Signals to itself.
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "rt_sigpending": (127, 136),
    "rt_sigsuspend": (130, 133),
    "rt_sigtimedwait": (128, 137),
    "sigaltstack": (131, 132),
    "pause": (34, None),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getitimer": (36, 102),
    "restart_syscall": (219, 128),
    # Time and random numbers.
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "nanosleep": (35, 101),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "getrandom": (318, 278),
}
"""Calls that are allowed with any arguments."""

SCRATCH: dict[str, tuple[int | None, int | None]] = {
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "utimensat": (280, 88),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "msync": (26, 227),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    # Copying a file queries such attributes; they can't be read or set.
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
}
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
