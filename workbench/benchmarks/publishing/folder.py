"""A published folder: it appears whole or not at all, and replaces nothing but one of its kind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.benchmarks.publication import FolderManifest, PublishedFile
from workbench.core.errors import FormatError
from workbench.core.files import part_folder

MANIFEST: Final = "manifest.json"
CHECKSUMS: Final = "checksums.txt"

_UNLISTED = {MANIFEST, CHECKSUMS}


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder to write in, which takes its name when all is written.

    Args:
        force: Replace a folder that was published, and that nobody has touched since.

    Raises:
        FormatError: There is something of that name that may not be replaced, or it can't be written or has no name.
    """
    if not path.name:
        raise FormatError(f"{str(path)!r} is no name of a new folder.", "Name one in it.")
    _put_back(path)
    _check(path, force=force)
    try:
        with part_folder(path) as part:
            temporary = part / "folder"
            temporary.mkdir()
            yield temporary
            _sync(temporary)
            _check(path, force=force)
            _rename(temporary, path)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the folder and the free space.") from error


def place(folder: Path, path: str) -> Path:
    """Where a file of a folder that is being made goes; what it lies in is there."""
    found = folder / path
    found.parent.mkdir(parents=True, exist_ok=True)
    return found


def write(folder: Path, path: str, content: bytes) -> None:
    """Write a file into a folder that is being made."""
    place(folder, path).write_bytes(content)


def write_json(folder: Path, path: str, document: Struct) -> None:
    """Write a record as JSON that people can read."""
    write(folder, path, msgspec.json.format(msgspec.json.encode(document)) + b"\n")


def described(folder: Path, path: str, rows: int | None = None) -> PublishedFile:
    """A file that has been written."""
    written = folder / path
    return PublishedFile(path=path, sha256=_sha256(written), bytes=written.stat().st_size, rows=rows)


def checksums(files: list[PublishedFile]) -> bytes:
    """A line a file, as ``sha256sum -c`` reads them."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in sorted(files, key=lambda file: file.path)).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _check(path: Path, *, force: bool) -> None:
    """Refuse to write over what is not ours to replace."""
    if not os.path.lexists(path):
        if not path.parent.is_dir():
            raise FormatError(f"{path}: there is no folder {path.parent}.", "Make it first.")
        return
    if path.is_symlink() or not path.is_dir():
        raise FormatError(f"{path} is there, and is no folder.", "Name another.")
    there = _files(path)
    if not there:
        return
    if not force:
        raise FormatError(f"{path} exists.", "Use --force to replace a folder that was published.")
    if (manifest := _manifest(path)) is None:
        raise FormatError(f"{path} was not published by this command.", "Name another folder, or remove it yourself.")
    if odd := _touched(path, manifest, there):
        names = ", ".join(odd[:5]) + (f" and {len(odd) - 5:,} more" if len(odd) > 5 else "")
        raise FormatError(f"{path} is not as it was published: {names}.", "Remove it yourself, or name another folder.")


def _files(path: Path) -> set[str]:
    """Everything below a folder that is no folder, and folders without anything in them."""
    return {
        found.relative_to(path).as_posix()
        for found in path.rglob("*")
        if found.is_symlink() or not found.is_dir() or not any(found.iterdir())
    }


def _manifest(path: Path) -> FolderManifest | None:
    try:
        return msgspec.json.decode((path / MANIFEST).read_bytes(), type=FolderManifest)
    except (OSError, msgspec.MsgspecError):
        return None


def _touched(path: Path, manifest: FolderManifest, there: set[str]) -> list[str]:
    """What is in a folder and not in its manifest, or not as it says."""
    known = {file.path: file.sha256 for file in manifest.files}
    return sorted(
        name
        for name in (there | known.keys()) - _UNLISTED
        if name not in known or not _is_plain(path / name) or _sha256(path / name) != known[name]
    )


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _sync(folder: Path) -> None:
    """What is written reaches the disk before the folder has its name."""
    for written in (*folder.rglob("*"), folder):
        descriptor = os.open(written, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _old(path: Path) -> Path:
    return path.with_name(f".{path.name}.replaced")


def _rename(temporary: Path, path: Path) -> None:
    """Give the new folder its name; between the two steps the old one stands beside, and is put back by the next."""
    old = _old(path)
    if not os.path.lexists(path) or not _files(path):
        temporary.rename(path)
        return
    if os.path.lexists(old):
        _check(old, force=True)
        shutil.rmtree(old)
    path.rename(old)
    temporary.rename(path)
    shutil.rmtree(old)


def _put_back(path: Path) -> None:
    """Undo a replacement that was killed half way."""
    old = _old(path)
    if not os.path.lexists(path) and old.is_dir() and _manifest(old) is not None:
        old.rename(path)
