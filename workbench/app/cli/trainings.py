"""``workbench training DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, TableForm, option
from workbench.core.project import Project
from workbench.measuring.watching import PARTS


class TrainingOptions(Options, frozen=True, kw_only=True):
    training: Annotated[str | None, option("Only this one.", "--name", metavar="NAME")] = None
    scored_by: Annotated[
        str | None,
        option("Whose verdicts say what is right, such as a stronger judge's; else gold.", metavar="VERIFIER"),
    ] = None
    gold: Gold = "final"
    parts: Annotated[int, option("Into how many parts its steps are cut, at most.", ge=1, le=1_000)] = PARTS
    form: TableForm = TableForm()


@verb
def training_command(project: Project, options: TrainingOptions) -> Output:
    """Watch trainings: what the verifier accepts by step, how much of it is right, what rises.

    What workbench.reward(..., audit="p.db") and reward-server --audit p.db took of a training are items like others, in
    a data set of its name: people label them blind (assign), or a stronger judge does (verify, then --scored-by).
    Shares are weighted by one over the chance that each was taken. Alarms: a wording suddenly frequent among what is
    accepted, and more that is accepted wrongly than before; each is meant to be false once in 20,000 steps at most.
    """
    from workbench.measuring.watching import watched
    from workbench.measuring.watching_tables import training_text

    found = watched(project, options.training, scored_by=options.scored_by, gold=options.gold, parts=options.parts)
    return Output(found, lambda found: training_text(found, options.form))
