"""``workbench code representatives --from FILE --mode adversarial|discriminative``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from workbench.app.cli.common import REFUSED_SOME, print_line, say_some
from workbench.app.cli.verb import verb
from workbench.core.options import Options, option


class CodeRepresentativesOptions(Options, frozen=True, kw_only=True):
    file: Annotated[Path, option("Pass vectors.", "--from", metavar="FILE")]
    mode: Annotated[
        Literal["adversarial", "discriminative"],
        option("The best and most diverse five, or the five that tests tell apart least."),
    ]
    objective: Annotated[
        Literal["released", "max-min", "max-sum"],
        option("Adversarial: released looks among those that pass 40 % to under 90 %, the others among all."),
    ] = "released"
    seed: Annotated[int, option("Of draws among equals.")] = 0


@verb(json=False)
def command(options: CodeRepresentativesOptions) -> None:
    """Choose the solutions a model is shown when tests evolve, one JSON line a case: name, selected, …

    FILE holds a case a line, {"name": …, "vectors": ["1101", …]}, or one object of such cases by name. A vector is a
    solution, a character a test, 1 for a pass; what is selected are places in the list, from 0.
    """
    from workbench.coding.evolution.representing import representatives
    from workbench.core.item import Refusal

    refused = []
    for found in representatives(options.file, options.mode, objective=options.objective, seed=options.seed):
        if isinstance(found, Refusal):
            refused.append(f"{options.file}:{found.line}:{found.field or ''}: {found.message}")
        else:
            print_line(found)
    sys.stdout.flush()
    say_some(refused)
    if refused:
        sys.exit(REFUSED_SOME)
