"""``workbench code pool DB --model MODEL --samples N``."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.asking import Models, ModelSettings, MostProblems, Problems, ProblemSet, drawing, say_calls
from workbench.app.cli.common import REFUSED_SOME, options_of, trusting
from workbench.app.cli.verb import Output, verb
from workbench.core.options import Options, Trust, option
from workbench.core.project import Project


class CodePoolOptions(Options, frozen=True, kw_only=True):
    name: Annotated[str, option("What these solutions are called: ids begin with it.")] = "pool"
    models: Models
    settings: ModelSettings = ()
    samples: Annotated[int, option("Of each model.", ge=1, le=1000)] = 8
    dataset: ProblemSet = None
    tasks: Problems = ()
    limit: MostProblems = None
    trust: Trust = False


@verb
def command(project: Project, options: CodePoolOptions) -> Output:
    """Have every model write so many solutions of each problem, and take all of them as they are.

    The paper's pools are 8 models with 8 solutions each. Going on asks nothing twice.
    """
    from workbench.coding.synthesis.pooling import USUAL, fill
    from workbench.coding.targets import Targets
    from workbench.runs.generation import models_from

    chosen = models_from(project, options.models, options_of(options.settings), USUAL)
    targets = Targets(dataset=options.dataset, tasks=options.tasks, limit=options.limit)
    with drawing() as watch:
        report = trusting(
            lambda yes: fill(project, options.name, chosen, options.samples, targets=targets, trust=yes, watch=watch),
            options.trust,
        )
    say_calls(project, report.run)
    return Output(
        report,
        lambda found: [f"{found.added:,} new solutions of {found.problems:,} problems in {found.dataset}"],
        after=[f"  {report.failed:,} calls failed for good; the same command tries them again."]
        if report.failed
        else (),
        code=REFUSED_SOME if report.failed else 0,
    )
