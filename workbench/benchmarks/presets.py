"""Settings of papers (sources with licences, models, judges), as files to start from and as licences for a pool."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from workbench.benchmarks import store
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.data.formats.fields import known_licence
from workbench.data.store import licences

_FOLDER: Final = Path(__file__).with_name("preset_files")
SOURCES: Final = "verifybench-sources"
PRESETS: Final[dict[str, str]] = {
    SOURCES: "the 41 sources of VerifyBench's table 7 with licences and questions drawn, as CSV",
    "verifybench-models": "the 22 models of table 6, as a plan for completions",
    "verifybench-judges": "the five judges of VerifyBench-Hard, as verifiers for workbench.toml",
    "code-reward-models": "reward models of Scoring Verifiers, asked in turns as in figure 15, for workbench.toml",
    "mcts-ablations": "MCTS-Judge in readings in which its parts can show, and table 5's ablations, for workbench.toml",
}
"""Names and descriptions of the presets."""
_NO_LICENCE: Final = "self-curated"
"""The licence in table 7 of a source without a named licence."""


class PaperSource(Struct, frozen=True, kw_only=True):
    """A source of questions: a line of table 7.

    Attributes:
        source: The source's domain and name.
        licence: The source's licence; None if the paper states none.
        questions: Number of questions drawn from the source.
        names: The source's names in the paper and the released files, case-folded; ``*`` matches the name of a part.
    """

    source: str
    licence: str | None
    questions: int
    names: tuple[str, ...]

    def is_called(self, source: str) -> bool:
        domain, slash, name = source.rpartition("/")
        if slash and domain.casefold() != self.source.partition("/")[0]:
            return False
        return any(fnmatchcase(_fold_name(name), one) for one in self.names)


class LicencesChanged(Struct, frozen=True, kw_only=True):
    """The changes to the licences of a pool's sources.

    Attributes:
        given: Source -> the licence that was added.
        kept: Source -> its licence in the project, which stays although the paper states a different one.
        unknown: Sources of the paper without a known licence.
        elsewhere: Sources that are not in the paper.
    """

    given: dict[str, str]
    kept: dict[str, str]
    unknown: tuple[str, ...]
    elsewhere: tuple[str, ...]


def preset_text(name: str) -> str:
    """Return the text of a preset's file.

    Raises:
        UsageError: No preset has this name.
    """
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name[:100]!r}.", f"There are: {', '.join(PRESETS)}")
    (path,) = _FOLDER.glob(f"{name}.*")
    return path.read_text(encoding="utf-8")


@cache
def paper_sources() -> tuple[PaperSource, ...]:
    """Return the 41 sources of VerifyBench (arXiv 2505.15801, table 7), in its order."""
    return tuple(_source_of_row(row) for row in csv.DictReader(preset_text(SOURCES).splitlines()))


def _source_of_row(row: dict[str, str]) -> PaperSource:
    name = row["source"].partition("/")[2]
    licence = None if row["licence"] == _NO_LICENCE else known_licence(row["licence"])
    names = tuple(_fold_name(one) for one in (name, row["also"]) if one)
    return PaperSource(source=row["source"], licence=licence, questions=int(row["questions"]), names=names)


def _fold_name(name: str) -> str:
    return re.sub(r"[ _-]+", "-", name.casefold())


def license_as_published(project: Project) -> LicencesChanged:
    """Set the licences of table 7 for the VerifyBench sources of a project that have no licence."""
    with project.database.write("full") as connection:
        sources = store.sources(connection)
        there = {name: one.licence for name, one in sources.items() if one.licence}
        found = {name: next((one for one in paper_sources() if one.is_called(name)), None) for name in sources}
        given = {
            name: one.licence for name, one in found.items() if one is not None and one.licence and name not in there
        }
        for name, licence in given.items():
            licences.put(connection, name, licence)
    kept = {
        name: there[name]
        for name, one in found.items()
        if one is not None and name in there and one.licence not in (None, there[name])
    }
    return LicencesChanged(
        given=given,
        kept=kept,
        unknown=tuple(name for name, one in found.items() if one and not one.licence and name not in there),
        elsewhere=tuple(name for name, one in found.items() if one is None),
    )


def licence_lines(found: LicencesChanged) -> Iterator[str]:
    """Yield a description of the result, one line for each source in the paper."""
    yield from (f"{name}: {licence}" for name, licence in found.given.items())
    yield from (f"{name}: {licence} stays, though table 7 says another one" for name, licence in found.kept.items())
    yield from (f"{name}: table 7 knows no licence" for name in found.unknown)
    yield f"{len(found.given):,} licences given, as table 7 says; {len(found.elsewhere):,} sources are not in it"
