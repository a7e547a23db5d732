"""``workbench compare DB A B``, and the same of more verifiers than two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click

from workbench.app.cli.common import selection_of
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, Protocol, SeedNumber, TableFormat, Where, argument, option
from workbench.core.project import Project

if TYPE_CHECKING:
    from workbench.measuring.comparing_tables import Report


class CompareOptions(Options, frozen=True, kw_only=True):
    verifiers: Annotated[tuple[str, ...], argument("[VERIFIER]...")] = ()
    everyone: Annotated[bool, option("All that can be compared, with each other.", "--all")] = False
    against: Annotated[str | None, option("Compare each with this one instead of with each other.", metavar="NAME")] = (
        None
    )
    errors: Annotated[bool, option("Show how far verifiers agree and err together; without names all of them.")] = False
    by: Annotated[
        str | None, option("Of two: count wins and losses by type, subtype, domain …", metavar="FIELD[,FIELD]")
    ] = None
    protocol: Protocol = "forced"
    gold: Gold = "final"
    where: Where = ()
    bootstrap: Annotated[
        int | None,
        option(
            "Samples behind intervals without a closed form; 0 for none.  [default: 10,000; 1,000 with --errors]",
            metavar="SAMPLES",
            ge=0,
            le=1_000_000,
        ),
    ] = None
    seed: Annotated[SeedNumber, option("Seed of the bootstrap.")] = 0
    examples: Annotated[
        int,
        option(
            "Of two: name up to N items that both, only A, only B and neither judge rightly.",
            metavar="N",
            ge=0,
            le=1_000,
            shows_default=False,
        ),
    ] = 0
    format: TableFormat = "text"


@verb
def command(project: Project, options: CompareOptions) -> Output:
    """Compare verifiers on the items both of a pair have a verdict for.

    Two are set against each other: who is right where, both tests, and the differences with their intervals. McNemar's
    exact test takes items as independent; intervals and the permutation test go by question, since completions of one
    question are right and wrong together. Of more than two every pair is tested, and p-values are adjusted for how many
    tests that makes.
    """
    from workbench.measuring import comparing, family, joint_errors
    from workbench.measuring.comparing_tables import comparison_as

    kind = _kind(options)
    if kind != "pair" and (options.by or options.examples):
        raise click.UsageError("--by and --examples go with exactly two verifiers.")
    if kind == "family" and options.bootstrap is not None:
        raise click.UsageError("--bootstrap goes with exactly two verifiers, or with --errors.")
    how: dict[str, Any] = {"protocol": options.protocol, "gold": options.gold, "selection": selection_of(options.where)}
    seed, samples = options.seed, options.bootstrap
    report: Report
    if kind == "pair":
        a, b = options.verifiers
        samples = comparing.SAMPLES if samples is None else samples
        report = comparing.compare(
            project, a, b, **how, by=options.by, examples=options.examples, samples=samples, seed=seed
        )
    elif kind == "errors":
        samples = joint_errors.SAMPLES if samples is None else samples
        report = joint_errors.joint_errors(project, options.verifiers, samples=samples, seed=seed, **how)
    else:
        report = family.family(project, options.verifiers, against=options.against, **how)
    return Output(report, lambda found: comparison_as(found, options.format))


def _kind(options: CompareOptions) -> str:
    """What is asked for: ``pair``, ``family`` or ``errors``.

    Raises:
        click.UsageError: The arguments don't fit together.
    """
    several = options.everyone or options.against
    if options.everyone and options.verifiers:
        raise click.UsageError("Name verifiers, or take --all; not both.")
    if options.errors and several:
        raise click.UsageError("--errors takes all verifiers, or those named: --all and --against go without it.")
    if options.errors:
        return "errors"
    if several or len(options.verifiers) > 2:
        return "family"
    if len(options.verifiers) < 2:
        raise click.UsageError("Name two verifiers or more, or take --all.")
    return "pair"
