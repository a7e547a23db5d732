"""``workbench code representatives --from FILE --mode adversarial|discriminative``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from workbench.cli.common import REFUSED_SOME, print_line, say_some


@click.command()
@click.option(
    "--from",
    "file",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Pass vectors.",
)
@click.option(
    "--mode",
    type=click.Choice(["adversarial", "discriminative"]),
    required=True,
    help="The best and most diverse five, or the five that tests tell apart least.",
)
@click.option(
    "--objective",
    type=click.Choice(["released", "max-min", "max-sum"]),
    default="released",
    show_default=True,
    help="Adversarial: released looks among those that pass 40 % to under 90 %, the others among all.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of draws among equals.")
def command(file: Path, mode: Any, objective: Any, seed: int) -> None:
    """Choose the solutions a model is shown when tests evolve, one JSON line a case: name, selected, …

    FILE holds a case a line, {"name": …, "vectors": ["1101", …]}, or one object of such cases by name. A vector is a
    solution, a character a test, 1 for a pass; what is selected are places in the list, from 0.
    """
    from workbench.model.item import Refusal
    from workbench.services.coding.evolution.representing import representatives

    refused = []
    for found in representatives(file, mode, objective=objective, seed=seed):
        if isinstance(found, Refusal):
            refused.append(f"{file}:{found.line}:{found.field or ''}: {found.message}")
        else:
            print_line(found)
    sys.stdout.flush()
    say_some(refused)
    if refused:
        sys.exit(REFUSED_SOME)
