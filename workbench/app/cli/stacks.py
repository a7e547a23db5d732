"""``workbench stack DB``: stacks of verifiers, from what each of them has said."""

from __future__ import annotations

from typing import Annotated

from workbench.app.cli.verb import Output, verb
from workbench.core.options import Basis, Options, TableForm, option
from workbench.core.project import Project


class StackOptions(Options, frozen=True, kw_only=True):
    stages: Annotated[
        str,
        option(
            "Stages in order, each with what settles, as in: rules:correct, qwen:score>=0.9@A/B, gpt", metavar="STAGES"
        ),
    ]
    basis: Basis = Basis()
    form: TableForm = TableForm()


@verb
def stack_command(project: Project, options: StackOptions) -> Output:
    """Show what a stack of verifiers would be worth and take, from stored verdicts: nothing is asked.

    Each stage is taken to be asked about what those before it leave. What settles an item is the stage's verdict
    correct, incorrect or both, or its score; @ and answer types say what a stage is asked about. The table of stages
    says how often each was wrong about what it settled, by answer type.
    """
    from workbench.measuring.stack_tables import simulated_text
    from workbench.measuring.stacking import simulate

    report = simulate(project, options.stages, **options.basis.arguments)
    return Output(report, lambda found: simulated_text(found, options.form))
