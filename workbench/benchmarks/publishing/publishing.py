"""Frozen sets as a folder that others can load, check and cite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from workbench.benchmarks.card.contents import CardContents, SetContents
from workbench.benchmarks.card.document import card_text, data_path
from workbench.benchmarks.card.licences import licences_text
from workbench.benchmarks.card.methods import leaderboard_table
from workbench.benchmarks.publication import (
    COLUMNS,
    FORMAT,
    FORMAT_VERSION,
    FolderManifest,
    Publication,
    PublishedFile,
    PublishedSet,
)
from workbench.benchmarks.publishing import folder as folders
from workbench.benchmarks.publishing.annotations import aliases, lines_of, said_of
from workbench.benchmarks.publishing.frozen import FrozenItem, FrozenSet, frozen_items, frozen_set
from workbench.benchmarks.publishing.gathering import PublishingOptions, gather
from workbench.benchmarks.publishing.leaderboard import leaderboard_csv
from workbench.core.database.sets import PACKAGE
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.core.sets import SetName
from workbench.data.formats.writing import Kind, released_line, write_parquet
from workbench.measuring.store import describing
from workbench.tables.markdown import markdown_table

_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


class PublisherCard(Struct, frozen=True, kw_only=True):
    """What its publisher says of a folder.

    Attributes:
        title: None for the sets' names.
        licence: Of labels, selection and card; None where they don't say.
        languages: ISO 639 codes.
    """

    title: str | None = None
    licence: str | None = None
    languages: tuple[str, ...] = ()


def publish(
    project: Project,
    names: Sequence[SetName],
    path: Path,
    *,
    card: PublisherCard | None = None,
    asked: PublishingOptions | None = None,
    force: bool = False,
) -> Publication:
    """Write sets into a folder, each as a configuration; the folder appears whole or not at all.

    The same database gives the same bytes.

    Args:
        force: Replace a folder that was published, and that nobody has touched since.

    Raises:
        FormatError: The folder is there, or can't be written; or pyarrow is not installed.
        StoreError: A set's items are not those that were frozen, or the folder would be the database's own.
        UsageError: A set is not there, not finished, or named twice; or a language has no such code.
    """
    said, asked = card or PublisherCard(), asked or PublishingOptions()
    _check_languages(said)
    if not path.exists():
        project.database.require_other(path)
    # All files speak of one state of the database, whatever people label meanwhile.
    with project.database.reading(), folders.new_folder(path, force=force) as folder:
        found = [frozen_set(project, name) for name in names]
        configs = _configs(found)
        written = _FolderWriter(project, folder, asked)
        for one, config in zip(found, configs, strict=True):
            written.add(one, config)
        manifest = written.finish(said)
    files = manifest.files
    return Publication(
        folder=str(path),
        sets=manifest.sets,
        files=files,
        bytes=sum(file.bytes for file in files),
        notes=tuple(_notes(manifest, written.sets)),
    )


def _check_languages(said: PublisherCard) -> None:
    for code in said.languages:
        if not _LANGUAGE.fullmatch(code):
            raise UsageError(f"{code[:50]!r} is no code of a language.", "Use codes of ISO 639, such as en or zh-Hant.")


def _configs(found: Sequence[FrozenSet]) -> list[str]:
    """What each set is called: its name, without the slashes that a folder can't have."""
    configs = [one.stored.name.replace("/", "-") for one in found]
    if len(set(map(str.casefold, configs))) < len(configs):
        raise UsageError("Two of the sets would have one name in the folder.", "Publish them in folders of their own.")
    return configs


class _FolderWriter:
    """Writes the files of a folder.

    Attributes:
        sets: What the card says of each set.
    """

    def __init__(self, project: Project, folder: Path, asked: PublishingOptions) -> None:
        self._project, self._folder, self._asked = project, folder, asked
        self._files: list[PublishedFile] = []
        self.sets: list[SetContents] = []

    def add(self, frozen: FrozenSet, config: str) -> None:
        """Write what belongs to one set."""
        people = aliases(self._project, names=self._asked.names)
        said = list(said_of(self._project, frozen))
        found = gather(self._project, frozen, config, said, people, self._asked)
        self.sets.append(found)
        self._items(frozen, config)
        self._lines(f"annotations/{config}.jsonl", lines_of(said, people))
        self._lines(f"leaderboard/{config}.jsonl", found.leaderboard)
        self._text(f"leaderboard/{config}.csv", leaderboard_csv(found.leaderboard), rows=len(found.leaderboard))
        self._text(f"leaderboard/{config}.md", markdown_table(leaderboard_table(found.name, found.leaderboard)))
        if found.guideline is not None and found.guideline.text is not None:
            self._text(f"guidelines/{config}.md", found.guideline.text)

    def finish(self, said: PublisherCard) -> FolderManifest:
        """Write what belongs to all sets, and what the folder is checked by."""
        card = CardContents(
            title=said.title or ", ".join(found.name for found in self.sets),
            licence=said.licence,
            languages=said.languages,
            sets=self.sets,
            files=[],
            workbench=version(PACKAGE),
            schema=describing.schema_version(self._project.database.reader()),
        )
        self._text("LICENSE.md", licences_text(card))
        self._text("README.md", card_text(msgspec.structs.replace(card, files=list(self._files))))
        manifest = FolderManifest(
            format=FORMAT,
            version=FORMAT_VERSION,
            workbench=card.workbench,
            schema=card.schema,
            title=card.title,
            licence=card.licence,
            sets=list(map(_published, self.sets)),
            files=self._files,
        )
        folders.write_json(self._folder, folders.MANIFEST, manifest)
        every = [*self._files, folders.described(self._folder, folders.MANIFEST)]
        folders.write(self._folder, folders.CHECKSUMS, folders.checksums(every))
        return manifest

    def _items(self, frozen: FrozenSet, config: str) -> None:
        """The items, once as a table and once in the released schema."""
        path = data_path(config)
        kinds: dict[str, Kind] = {name: kind for name, (kind, _) in COLUMNS.items()}
        with folders.place(self._folder, path).open("wb") as file:
            rows = write_parquet(file, kinds, map(_cells, frozen_items(self._project, frozen)))
        self._files.append(folders.described(self._folder, path, rows))
        path = f"verifybench/{config}.jsonl"
        with folders.place(self._folder, path).open("wb") as file:
            for found in frozen_items(self._project, frozen):
                file.write(released_line(found.item))
        self._files.append(folders.described(self._folder, path, rows))

    def _lines(self, path: str, lines: Iterator[object] | Sequence[object]) -> None:
        encoded = [msgspec.json.encode(line) + b"\n" for line in lines]
        folders.write(self._folder, path, b"".join(encoded))
        self._files.append(folders.described(self._folder, path, len(encoded)))

    def _text(self, path: str, text: str, rows: int | None = None) -> None:
        folders.write(self._folder, path, text.encode())
        self._files.append(folders.described(self._folder, path, rows))


def _cells(found: FrozenItem) -> tuple[object, ...]:
    item, source = found.item, found.source
    return (
        item.question_key,
        item.completion_key,
        item.question,
        item.reference,
        item.completion,
        item.gold,
        item.gold_from,
        item.model,
        item.source,
        None if source is None else source.domain,
        None if source is None else source.licence,
        item.type_text,
        item.subtype_text,
        item.extra,
    )


def _published(found: SetContents) -> PublishedSet:
    stored = found.stored
    return PublishedSet(
        name=stored.name,
        version=stored.version,
        config=found.config,
        kind=stored.kind,
        seed=stored.seed,
        frozen_at=stored.created_at,
        digest=stored.digest,
        questions=stored.questions,
        tuples=stored.items,
        correct=found.correct,
        labels=found.annotations.lines,
        verifiers=sum(line.kind == "verifier" for line in found.leaderboard),
        differing=found.differing,
    )


def _notes(manifest: FolderManifest, sets: Sequence[SetContents]) -> Iterator[str]:
    """What the publisher should know before others read it."""
    if manifest.licence is None:
        yield "No licence is stated: --licence says under which others may use labels, selection and card."
    for found in sets:
        changed = found.differing
        if changed.gold or changed.types:
            yield (
                f"{found.name}: gold of {changed.gold:,} items and answer types of {changed.types:,} are not what they "
                "were when it was frozen; what stood then is published. For what stands now, build a new version."
            )
        unknown = [
            source.name or "(none)" for source in found.contents.card.sources if source.items and not source.licence
        ]
        if unknown:
            yield f"{found.name}: no known licence of {', '.join(unknown[:5])}{' …' if len(unknown) > 5 else ''}."
