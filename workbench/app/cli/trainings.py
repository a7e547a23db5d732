"""``workbench training DB``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.verb import Output, verb
from workbench.core.options import Gold, Options, TableForm, option, run_job
from workbench.core.project import Project
from workbench.measuring.watching import PARTS


class TrainingOptions(Options, frozen=True, kw_only=True):
    training: Annotated[str | None, option("Show only the training with this name.", "--name", metavar="NAME")] = None
    scored_by: Annotated[
        str | None,
        option(
            "Verifier whose verdicts count as the truth, such as a stronger judge.  [default: gold labels]",
            metavar="VERIFIER",
        ),
    ] = None
    gold: Gold = "final"
    parts: Annotated[
        int, option("Maximum number of rows into which the training steps are grouped.", ge=1, le=1_000)
    ] = PARTS
    form: TableForm = TableForm()


@verb
def training_command(project: Project, options: TrainingOptions) -> Output:
    """Monitor trainings by step: what the verifier accepts, how much is correct, and what becomes more frequent.

    The items that workbench.reward(..., audit="p.db") and reward-server --audit p.db sampled from a training are
    ordinary items, in a data set of its name: annotators label them blind (assign), or a stronger judge does (verify,
    then --scored-by). Shares are weighted by the inverse sampling probability. There are two alarms: a phrasing is
    suddenly frequent among accepted completions, or the rate of wrong acceptances is higher than before. The
    false-alarm rate of each is designed to be at most one in 20,000 steps.
    """
    from workbench.measuring.watching import training_text, watched

    found = run_job(watched, options, project)
    return Output(found, lambda found: training_text(found, options.form))
