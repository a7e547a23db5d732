"""``workbench curate DB draw --per-type N``."""

from __future__ import annotations

import click

from workbench.cli.building.common import seed_option, set_options, told
from workbench.cli.common import project_at, whole_number
from workbench.cli.curate.common import counted, scope_of, scope_options
from workbench.errors import UsageError
from workbench.model.taxonomy import TYPES


@click.command()
@click.option("--per-type", type=whole_number, required=True, help="Questions wanted of each type (the paper: 2000).")
@click.option("--types", default=",".join(TYPES), show_default=True, metavar="LETTERS", help="Types to draw from.")
@click.option("--cap-source", type=whole_number, help="At most so many questions of one source.")
@click.option("--confirmed", is_flag=True, help="Only types that count, not one person's or a model's alone.")
@scope_options
@seed_option
@set_options("pool")
@click.pass_obj
def command(
    database: str,
    per_type: int,
    types: str,
    cap_source: int | None,
    confirmed: bool,
    dataset: str | None,
    source: str | None,
    seed: int,
    name: str,
    dry_run: bool,
    new_version: bool,
    as_json: bool,
) -> None:
    """Draw so many questions of each type, and freeze them as a set; use it with --where set=NAME.

    Questions that are out are never drawn, and no type is filled from another one: what is missing is reported.
    More questions in the pool change a draw only as far as they must. The same call again gives the same set.
    """
    from workbench.services.curating.drawing import DrawWish, draw

    wish = DrawWish(
        name=name,
        per_type=per_type,
        types=_letters(types),
        scope=scope_of(dataset, source),
        seed=seed,
        cap_source=cap_source,
        confirmed=confirmed,
    )
    with project_at(database) as project:
        report = draw(project, wish, new_version=new_version, dry_run=dry_run)
    more = (
        f"types said by: {counted(report.origins)}; without a type: {counted(report.untyped)}",
        f"sources: {counted(report.sources)}",
    )
    told(report, dry_run=dry_run, as_json=as_json, more=more)


def _letters(text: str) -> tuple[str, ...]:
    letters = tuple(dict.fromkeys(word.strip().upper() for word in text.split(",")))
    if not all(len(letter) == 1 and letter.isascii() and letter.isalpha() for letter in letters):
        raise UsageError(f"--types: {text[:100]!r} are no letters of types.", "Write: --types A,B,C,D")
    return letters
