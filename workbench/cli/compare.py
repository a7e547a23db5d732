"""``workbench compare DB A B``, and the same of more verifiers than two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli.common import (
    database_argument,
    gold_option,
    json_option,
    print_json,
    project_at,
    protocol_option,
    selection_of,
    table_format_option,
    where_option,
)

if TYPE_CHECKING:
    from workbench.services.measuring.comparing_tables import Report


@click.command()
@database_argument
@click.argument("verifiers", metavar="[VERIFIER]...", nargs=-1)
@click.option("--all", "everyone", is_flag=True, help="All that can be compared, with each other.")
@click.option("--against", metavar="NAME", help="Compare each with this one instead of with each other.")
@click.option(
    "--errors", is_flag=True, help="Show how far verifiers agree and err together; without names all of them."
)
@click.option("--by", metavar="FIELD[,FIELD]", help="Of two: count wins and losses by type, subtype, domain …")
@protocol_option
@gold_option
@where_option
@click.option(
    "--bootstrap",
    type=click.IntRange(0, 1_000_000),
    metavar="SAMPLES",
    help="Samples behind intervals without a closed form; 0 for none.  [default: 10,000; 1,000 with --errors]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--examples",
    type=click.IntRange(0, 1_000),
    default=0,
    metavar="N",
    help="Of two: name up to N items that both, only A, only B and neither judge rightly.",
)
@table_format_option
@json_option
def command(
    database: str,
    verifiers: tuple[str, ...],
    everyone: bool,
    against: str | None,
    errors: bool,
    by: str | None,
    protocol: Any,
    gold: Any,
    where: tuple[str, ...],
    bootstrap: int | None,
    seed: int,
    examples: int,
    format_: Any,
    as_json: bool,
) -> None:
    """Compare verifiers on the items both of a pair have a verdict for.

    Two are set against each other: who is right where, both tests, and the differences with their intervals. McNemar's
    exact test takes items as independent; intervals and the permutation test go by question, since completions of one
    question are right and wrong together. Of more than two every pair is tested, and p-values are adjusted for how many
    tests that makes.
    """
    from workbench.services.measuring import comparing, family, joint_errors

    kind = _kind(verifiers, everyone, against, errors)
    if kind != "pair" and (by or examples):
        raise click.UsageError("--by and --examples go with exactly two verifiers.")
    if kind == "family" and bootstrap is not None:
        raise click.UsageError("--bootstrap goes with exactly two verifiers, or with --errors.")
    how: dict[str, Any] = {"protocol": protocol, "gold": gold, "selection": selection_of(where)}
    report: Report
    with project_at(database) as project:
        if kind == "pair":
            samples = comparing.SAMPLES if bootstrap is None else bootstrap
            more: dict[str, Any] = {"by": by, "examples": examples, "samples": samples, "seed": seed}
            report = comparing.compare(project, verifiers[0], verifiers[1], **how, **more)
        elif kind == "errors":
            samples = joint_errors.SAMPLES if bootstrap is None else bootstrap
            report = joint_errors.joint_errors(project, verifiers, samples=samples, seed=seed, **how)
        else:
            report = family.family(project, verifiers, against=against, **how)
    _show(report, format_, as_json)


def _kind(verifiers: tuple[str, ...], everyone: bool, against: str | None, errors: bool) -> str:
    """What is asked for: ``pair``, ``family`` or ``errors``.

    Raises:
        click.UsageError: The arguments don't fit together.
    """
    if everyone and verifiers:
        raise click.UsageError("Name verifiers, or take --all; not both.")
    if errors and (everyone or against):
        raise click.UsageError("--errors takes all verifiers, or those named: --all and --against go without it.")
    if errors:
        return "errors"
    if everyone or against or len(verifiers) > 2:
        return "family"
    if len(verifiers) < 2:
        raise click.UsageError("Name two verifiers or more, or take --all.")
    return "pair"


def _show(report: Report, format_: Any, as_json: bool) -> None:
    from workbench.services.measuring.comparing_tables import comparison_as

    if as_json:
        print_json(report)
    else:
        click.echo(comparison_as(report, format_), nl=False)
