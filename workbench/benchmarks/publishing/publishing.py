"""Writes frozen benchmarks as a folder that others can load, check and cite."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.benchmarks.card.contents import CardContents, SetContents
from workbench.benchmarks.card.document import card_text, data_path, licences_text
from workbench.benchmarks.card.methods import leaderboard_table
from workbench.benchmarks.options import PublishOptions
from workbench.benchmarks.publishing.frozen import FrozenItem, FrozenSet, frozen_items, frozen_set
from workbench.benchmarks.publishing.gathering import aliases, gather, iter_annotations, lines_of
from workbench.benchmarks.publishing.leaderboard import leaderboard_csv
from workbench.benchmarks.records import (
    COLUMNS,
    FORMAT,
    FORMAT_VERSION,
    FolderManifest,
    Publication,
    PublishedFile,
    PublishedSet,
)
from workbench.config import protocol_of
from workbench.core.database.sets import PACKAGE
from workbench.core.errors import FormatError, UsageError, opt
from workbench.core.files import part_folder
from workbench.core.options import record_from
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.core.text.figures import counted
from workbench.data.formats.writing import Kind, released_line, write_parquet
from workbench.measuring.store import overview
from workbench.tables.markdown import markdown_table

# -- A published folder is written as a whole or not at all, and replaces only a published folder.


MANIFEST: Final = "manifest.json"
CHECKSUMS: Final = "checksums.txt"
_UNLISTED = {MANIFEST, CHECKSUMS}


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """Create a temporary folder, which is renamed to ``path`` when the context ends without an error.

    Args:
        force: Whether to replace a published folder that has not been changed since.

    Raises:
        FormatError: The path exists and may not be replaced, can't be written, or has no name.
    """
    if not path.name:
        raise FormatError(f"{str(path)!r} is not a valid name of a new folder.", "Name a new folder inside it.")
    _restore_replaced(path)
    _check_path(path, force=force)
    try:
        with part_folder(path) as part:
            temporary = part / "folder"
            temporary.mkdir()
            yield temporary
            _sync_to_disk(temporary)
            _check_path(path, force=force)
            _move_into_place(temporary, path)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror or error}.", "Check the folder and the free space.") from error


def place(folder: Path, path: str) -> Path:
    found = folder / path
    found.parent.mkdir(parents=True, exist_ok=True)
    return found


def write(folder: Path, path: str, content: bytes) -> None:
    place(folder, path).write_bytes(content)


def write_json(folder: Path, path: str, document: Struct) -> None:
    write(folder, path, msgspec.json.format(msgspec.json.encode(document)) + b"\n")


def described(folder: Path, path: str, rows: int | None = None) -> PublishedFile:
    written = folder / path
    return PublishedFile(path=path, sha256=_sha256(written), bytes=written.stat().st_size, rows=rows)


def checksums(files: list[PublishedFile]) -> bytes:
    """Return one line for each file, in the format of ``sha256sum -c``."""
    return "".join(f"{file.sha256}  {file.path}\n" for file in sorted(files, key=lambda file: file.path)).encode()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _check_path(path: Path, *, force: bool) -> None:
    if not os.path.lexists(path):
        if not path.parent.is_dir():
            raise FormatError(f"{path}: there is no folder {path.parent}.", "Make it first.")
        return
    if path.is_symlink() or not path.is_dir():
        raise FormatError(f"{path} exists and is not a folder.", "Name another.")
    there = _files(path)
    if not there:
        return
    if not force:
        raise FormatError(f"{path} exists.", f"Use {opt.force} to replace a folder that was published.")
    if (manifest := _read_manifest(path)) is None:
        raise FormatError(f"{path} was not published by this command.", "Name another folder, or remove it yourself.")
    if odd := _changed_files(path, manifest, there):
        names = ", ".join(odd[:5]) + (f" and {len(odd) - 5:,} more" if len(odd) > 5 else "")
        raise FormatError(
            f"{path} has changed since it was published: {names}.", "Remove it yourself, or name another folder."
        )


def _files(path: Path) -> set[str]:
    return {
        found.relative_to(path).as_posix()
        for found in path.rglob("*")
        if found.is_symlink() or not found.is_dir() or not any(found.iterdir())
    }


def _read_manifest(path: Path) -> FolderManifest | None:
    try:
        return msgspec.json.decode((path / MANIFEST).read_bytes(), type=FolderManifest)
    except (OSError, msgspec.MsgspecError):
        return None


def _changed_files(path: Path, manifest: FolderManifest, there: set[str]) -> list[str]:
    known = {file.path: file.sha256 for file in manifest.files}
    return sorted(
        name
        for name in (there | known.keys()) - _UNLISTED
        if name not in known or not _is_regular_file(path / name) or _sha256(path / name) != known[name]
    )


def _is_regular_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _sync_to_disk(folder: Path) -> None:
    for written in (*folder.rglob("*"), folder):
        descriptor = os.open(written, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _replaced_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.replaced")


def _move_into_place(temporary: Path, path: Path) -> None:
    old = _replaced_path(path)
    if not os.path.lexists(path) or not _files(path):
        temporary.rename(path)
        return
    if os.path.lexists(old):
        _check_path(old, force=True)
        old.rename(temporary.with_name("older"))
    path.rename(old)
    temporary.rename(path)
    # It is removed with the partial folder; the next command removes what a killed process leaves.
    old.rename(temporary.with_name("old"))


def _restore_replaced(path: Path) -> None:
    old = _replaced_path(path)
    if not os.path.lexists(path) and old.is_dir() and _read_manifest(old) is not None:
        old.rename(path)


_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def publish(project: Project, options: PublishOptions) -> Publication:
    """Write benchmarks into a folder atomically, each as a configuration.

    The output is deterministic: the same database gives the same bytes.

    Raises:
        FormatError: The folder exists, or can't be written; or pyarrow is not installed.
        StoreError: A benchmark's items differ from the frozen ones, or the folder belongs to the database.
        UsageError: A benchmark does not exist, is not finished, or is named twice; or a language code is unknown.
    """
    names, path = [SetName.parse(text) for text in options.sets], options.folder
    for code in options.languages:
        if not _LANGUAGE.fullmatch(code):
            raise UsageError(
                f"{code[:50]!r} is not a valid language code.", "Use ISO 639 codes, such as en or zh-Hant."
            )
    if not path.exists():
        project.database.require_other(path)
    # All files show one state of the database, even if labels are added in the meantime.
    with project.database.reading(), new_folder(path, force=options.force) as folder:
        found = [frozen_set(project, name) for name in names]
        configs = _config_names(found)
        written = _FolderWriter(project, folder, options)
        for one, config in zip(found, configs, strict=True):
            written.add(one, config)
        manifest = written.finish()
    files = manifest.files
    return Publication(
        folder=str(path),
        sets=manifest.sets,
        files=files,
        bytes=sum(file.bytes for file in files),
        notes=tuple(_publisher_notes(manifest, written.sets)),
    )


def _config_names(found: Sequence[FrozenSet]) -> list[str]:
    configs = [one.stored.name.replace("/", "-") for one in found]
    if len(set(map(str.casefold, configs))) < len(configs):
        raise UsageError("Two of the sets would have the same name in the folder.", "Publish them in separate folders.")
    return configs


class _FolderWriter:
    """Writes the files of a published folder.

    Attributes:
        sets: The card's contents about each benchmark.
    """

    def __init__(self, project: Project, folder: Path, options: PublishOptions) -> None:
        self._project, self._folder, self._options = project, folder, options
        self._files: list[PublishedFile] = []
        self.sets: list[SetContents] = []

    def add(self, frozen: FrozenSet, config: str) -> None:
        people = aliases(self._project, names=self._options.names)
        labels = list(iter_annotations(self._project, frozen))
        found = gather(
            self._project, frozen, config, labels, people, self._options.protocol or protocol_of(self._project)
        )
        self.sets.append(found)
        self._write_items(frozen, config)
        self._write_lines(f"annotations/{config}.jsonl", lines_of(labels, people))
        self._write_lines(f"leaderboard/{config}.jsonl", found.leaderboard)
        self._write_text(f"leaderboard/{config}.csv", leaderboard_csv(found.leaderboard), rows=len(found.leaderboard))
        self._write_text(f"leaderboard/{config}.md", markdown_table(leaderboard_table(found.name, found.leaderboard)))
        if found.guideline is not None and found.guideline.text is not None:
            self._write_text(f"guidelines/{config}.md", found.guideline.text)

    def finish(self) -> FolderManifest:
        options = self._options
        card = CardContents(
            title=options.title or ", ".join(found.name for found in self.sets),
            licence=options.licence,
            languages=options.languages,
            sets=self.sets,
            files=[],
            workbench=version(PACKAGE),
            schema=overview.schema_version(self._project.database.reader()),
        )
        self._write_text("LICENSE.md", licences_text(card))
        self._write_text("README.md", card_text(msgspec.structs.replace(card, files=list(self._files))))
        sets = list(map(_published_set, self.sets))
        manifest = record_from(
            FolderManifest, card, format=FORMAT, version=FORMAT_VERSION, sets=sets, files=self._files
        )
        write_json(self._folder, MANIFEST, manifest)
        every = [*self._files, described(self._folder, MANIFEST)]
        write(self._folder, CHECKSUMS, checksums(every))
        return manifest

    def _write_items(self, frozen: FrozenSet, config: str) -> None:
        path = data_path(config)
        kinds: dict[str, Kind] = {name: kind for name, (kind, _) in COLUMNS.items()}
        with place(self._folder, path).open("wb") as file:
            rows = write_parquet(file, kinds, map(_parquet_row, frozen_items(self._project, frozen)))
        self._files.append(described(self._folder, path, rows))
        path = f"verifybench/{config}.jsonl"
        with place(self._folder, path).open("wb") as file:
            for found in frozen_items(self._project, frozen):
                file.write(released_line(found.item))
        self._files.append(described(self._folder, path, rows))

    def _write_lines(self, path: str, lines: Iterator[object] | Sequence[object]) -> None:
        encoded = [msgspec.json.encode(line) + b"\n" for line in lines]
        write(self._folder, path, b"".join(encoded))
        self._files.append(described(self._folder, path, len(encoded)))

    def _write_text(self, path: str, text: str, rows: int | None = None) -> None:
        write(self._folder, path, text.encode())
        self._files.append(described(self._folder, path, rows))


_ITEM: Final = attrgetter(
    *("question_key", "completion_key", "question", "reference", "completion", "gold", "gold_from", "model", "source")
)


def _parquet_row(found: FrozenItem) -> tuple[object, ...]:
    item, source = found.item, found.source
    about = (None, None) if source is None else (source.domain, source.licence)
    return (*_ITEM(item), *about, item.type_text, item.subtype_text, item.extra)


def _published_set(found: SetContents) -> PublishedSet:
    stored = found.stored
    return record_from(
        PublishedSet,
        stored,
        config=found.config,
        frozen_at=stored.created_at,
        tuples=stored.items,
        correct=found.correct,
        labels=found.annotations.lines,
        verifiers=sum(line.kind == "verifier" for line in found.leaderboard),
        differing=found.differing,
    )


def _publisher_notes(manifest: FolderManifest, sets: Sequence[SetContents]) -> Iterator[str]:
    if manifest.licence is None:
        yield f"No licence is stated: {opt.licence} states the licence for labels, selection and data card."
    for found in sets:
        changed = found.differing
        if changed.gold or changed.types:
            yield (
                f"{found.name}: gold of {counted(changed.gold, 'item')} and answer types of {changed.types:,} have "
                f"changed since the set was frozen. The frozen values are published; to publish the current ones, "
                f"build a new version."
            )
        unknown = [
            source.name or "(none)" for source in found.contents.card.sources if source.items and not source.licence
        ]
        if unknown:
            yield f"{found.name}: no known licence of {', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}."
