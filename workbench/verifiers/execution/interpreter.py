"""The interpreter that programs are run with: what it can import, and which files that takes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from functools import lru_cache
from importlib.metadata import distributions
from pathlib import Path

import msgspec
from msgspec import Struct

from workbench.core.errors import VerifierError

_LONGEST_S = 30
_INSTALLED = ("site-packages", "dist-packages")
_ASK = """
import importlib.util, json, os, platform, site, sys, sysconfig
lib = sysconfig.get_config_var
print(json.dumps({
    "program": os.path.realpath(sys.executable),
    "stdlib": list(dict.fromkeys(os.path.realpath(path) for path in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib", vars={"platbase": sys.base_exec_prefix}),
    ))),
    "packages": list(dict.fromkeys(os.path.realpath(path) for path in site.getsitepackages() if os.path.isdir(path))),
    "libraries": lib("LIBDIR") or "",
    "multiarch": lib("MULTIARCH") or "",
    "magic": importlib.util.MAGIC_NUMBER.hex(),
    "name": f"{platform.python_implementation()} {platform.python_version()} ({sys.platform}, {platform.machine()})",
}))
"""


class Interpreter(Struct, frozen=True, kw_only=True):
    """What is known of an interpreter.

    Attributes:
        program: The real path of its executable.
        stdlib: Folders of its standard library.
        packages: Folders of what is installed beside that.
        libraries: The folder of its shared library, if it has one.
        multiarch: The machine's name in paths of shared libraries, where the system has one.
        magic: What its compiled code starts with, in hexadecimal: code is good for interpreters that share it.
        name: Such as ``"CPython 3.11.7 (linux, x86_64)"``.
    """

    program: str
    stdlib: tuple[str, ...]
    packages: tuple[str, ...]
    libraries: str
    multiarch: str
    magic: str
    name: str

    def search_path(self, *, with_packages: bool) -> list[str]:
        """``sys.path`` of a program."""
        dynamic = [f"{folder}/lib-dynload" for folder in self.stdlib]
        return [*self.stdlib, *dynamic, *(self.packages if with_packages else ())]

    def readable(self, *, with_packages: bool) -> list[str]:
        """Files and folders it reads: the standard library without what is installed within, shared libraries."""
        entries = [entry for folder in self.stdlib for entry in sorted(Path(folder).iterdir())]
        library = [str(entry) for entry in entries if entry.name not in _INSTALLED]
        return [self.program, *library, *_libraries(self), *(self.packages if with_packages else ())]

    def mounted(self, *, with_packages: bool) -> list[str]:
        """The same as few folders; what is installed within the standard library must be `hidden`."""
        return [self.program, *self.stdlib, *_libraries(self), *(self.packages if with_packages else ())]

    def hidden(self, *, with_packages: bool) -> list[str]:
        """Folders within the standard library that hold installed packages."""
        found = [f"{folder}/{name}" for folder in self.stdlib for name in _INSTALLED]
        return [path for path in found if Path(path).is_dir() and not with_packages]


@lru_cache(maxsize=16)
def interpreter(path: str | None) -> Interpreter:
    """Ask an interpreter, or this one, about itself.

    Raises:
        VerifierError: It doesn't start.
    """
    command = [path or sys.executable, "-I", "-c", _ASK]
    try:
        said = subprocess.run(command, capture_output=True, timeout=_LONGEST_S, check=True, stdin=subprocess.DEVNULL)
        return msgspec.json.decode(said.stdout, type=Interpreter)
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError) as error:
        raise VerifierError(f"The Python interpreter {command[0]!r} can't be used: {error}") from error


def packages_hash(folders: tuple[str, ...]) -> str:
    """sha256 over names and versions of what is installed in these folders."""
    found = sorted(f"{package.name}=={package.version}" for package in distributions(path=list(folders)))
    return hashlib.sha256(json.dumps(found).encode()).hexdigest()


def _libraries(known: Interpreter) -> list[str]:
    """Where shared libraries and the loader are, and time zones."""
    own = [str(file) for file in sorted(Path(known.libraries).glob("libpython*"))] if known.libraries else []
    places = [f"{root}/{known.multiarch}" for root in ("/lib", "/usr/lib")] if known.multiarch else []
    if not any(Path(place).is_dir() for place in places):
        places = ["/lib", "/usr/lib"]
    loaders = [str(file) for file in sorted(Path("/lib").glob("ld-*"))]
    system = [*places, "/lib64", "/usr/lib64", *loaders, "/etc/ld.so.cache", "/usr/share/zoneinfo"]
    return [path for path in dict.fromkeys([*own, *system]) if Path(path).exists()]
