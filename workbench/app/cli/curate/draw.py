"""``workbench curate DB draw --per-type N``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.building.common import DrawSeed, DryRun, NewVersion, SetTitle, built
from workbench.app.cli.curate.common import ScopeDataset, ScopeSource, counted, scope_of
from workbench.app.cli.verb import Output, verb
from workbench.core.errors import UsageError
from workbench.core.options import Options, Whole, option
from workbench.core.project import Project
from workbench.core.taxonomy import TYPES


class CurateDrawOptions(Options, frozen=True, kw_only=True):
    per_type: Annotated[Whole, option("Questions wanted of each type (the paper: 2000).")]
    types: Annotated[str, option("Types to draw from.", metavar="LETTERS", shows_default=True)] = ",".join(TYPES)
    cap_source: Annotated[Whole | None, option("At most so many questions of one source.")] = None
    confirmed: Annotated[bool, option("Only types that count, not one person's or a model's alone.")] = False
    dataset: ScopeDataset = None
    source: ScopeSource = None
    seed: DrawSeed = 0
    name: SetTitle = "pool"
    dry_run: DryRun = False
    new_version: NewVersion = False


@verb(within=True)
def command(project: Project, options: CurateDrawOptions) -> Output:
    """Draw so many questions of each type, and freeze them as a set; use it with --where set=NAME.

    Questions that are out are never drawn, and no type is filled from another one: what is missing is reported.
    More questions in the pool change a draw only as far as they must. The same call again gives the same set.
    """
    from workbench.benchmarks.curating.drawing import DrawWish, draw

    wish = DrawWish(
        name=options.name,
        per_type=options.per_type,
        types=_letters(options.types),
        scope=scope_of(options.dataset, options.source),
        seed=options.seed,
        cap_source=options.cap_source,
        confirmed=options.confirmed,
    )
    report = draw(project, wish, new_version=options.new_version, dry_run=options.dry_run)
    more = (
        f"types said by: {counted(report.origins)}; without a type: {counted(report.untyped)}",
        f"sources: {counted(report.sources)}",
    )
    return built(report, dry_run=options.dry_run, more=more)


def _letters(text: str) -> tuple[str, ...]:
    letters = tuple(dict.fromkeys(word.strip().upper() for word in text.split(",")))
    if not all(len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in letters):
        raise UsageError(f"--types: {text[:100]!r} are no letters of types.", "Write: --types A,B,C,D")
    return letters
