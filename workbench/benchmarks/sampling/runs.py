"""The runs of models that write completions: one a model, so that its calls, costs and limits are its own."""

from __future__ import annotations

from typing import Final

from workbench.benchmarks.sampling.plan import CompletionPlan
from workbench.core.errors import UsageError
from workbench.core.project import Project
from workbench.runs.binding import bound_run, require_same
from workbench.runs.generation import GO_ON, Identity, require_free
from workbench.runs.store import runs as stored_runs

PREFIX: Final = "completions/"
"""What the names of these runs begin with; the model's name follows."""


def runs_of(project: Project, plan: CompletionPlan) -> dict[str, int]:
    """The runs that there are already, by the model's name.

    Raises:
        UsageError: A model's name stands for another configuration.
    """
    reader = project.database.reader()
    found = {}
    for model in plan.models:
        bound = stored_runs.verifier_named(reader, PREFIX + model.name)
        if bound is None:
            continue
        identity = Identity(model.config(plan.prompt))
        try:
            require_same(bound, identity)
        except UsageError as error:
            raise UsageError(error.message, "Give the model another name: its completions are others.") from error
        run = stored_runs.find(reader, bound.id, identity.version)
        if run is not None:
            found[model.name] = run.id
    return found


def begin(project: Project, plan: CompletionPlan) -> dict[str, int]:
    """The runs of all models, made if need be.

    Raises:
        UsageError: A model's name stands for another configuration.
    """
    found = {}
    with project.database.write() as connection:
        for model in plan.models:
            require_free(PREFIX + model.name)
            run = bound_run(connection, PREFIX + model.name, Identity(model.config(plan.prompt)), {})
            stored_runs.settle(connection, run, "paused", GO_ON)
            found[model.name] = run
    return found
