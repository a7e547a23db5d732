"""Run an evolution with real models and a real sandbox, and write its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from workbench.coding.evolution import evolved, evolving
from workbench.coding.evolution.replies import PROMPTS
from workbench.coding.options import ProgramOptions
from workbench.coding.problems import execution_verifier, programs_sandbox
from workbench.coding.records.evolution import MODES, EvolutionReport, EvolutionSettings
from workbench.coding.store import EvolutionRow, run_name
from workbench.coding.templates import digests, own_prompts
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project
from workbench.core.run import ClusterUse
from workbench.data.formats.writing import write_lines
from workbench.runs.generation import Models, Watch, generating
from workbench.runs.store import runs

DEFAULTS: Final = ProgramOptions()
"""The default options of executions."""


def run(
    project: Project,
    name: str,
    models: Models,
    settings: EvolutionSettings,
    *,
    templates: Sequence[str] = (),
    dataset: str | None = None,
    problems: int | None = None,
    only: frozenset[str] | None = None,
    programs: ProgramOptions = DEFAULTS,
    cluster: ClusterUse | None = None,
    trust: bool = False,
    watch: Watch | None = None,
) -> EvolutionReport:
    """Run the problems of a data set through all rounds, resuming an interrupted run.

    Args:
        name: The evolution's name; the names of its suites begin with it.
        models: The model that writes tests.
        settings: The settings; this function fills in the model, the prompts, and where programs run.
        templates: Files of custom prompts (`own_prompts`).
        dataset: The data set; None for the only one that contains code problems.
        problems: Maximum number of problems; the first ones are used.
        only: Use only problems with these ids.
        programs: How solutions are executed.
        cluster: The cluster that runs solutions instead of this machine; counts of its nodes' work are recorded in it.
        trust: Whether the user approves servers that ``workbench.toml`` names.
        watch: Called with the progress.

    Raises:
        UsageError: The name has other settings, several models are given, or the problems are ambiguous.
        NotTrustedError: The user has not approved the servers.
        UnsafeError: This machine has no isolation, and the user has not approved that.
        RunError: No call can succeed now, or another process has locked the database; finished work is stored.
    """
    if len(models.models) != 1:
        raise UsageError("An evolution uses one model to write its tests.", f"Give {opt.model} once.")
    (model,) = models.models.values()
    own = own_prompts(templates, MODES)
    words = ", ".join([PROMPTS] * (len(own) < len(MODES)) + [f"{asked} {one}" for asked, one in digests(own).items()])
    execution = execution_verifier(programs.execution)
    wanted = structs.replace(
        settings,
        model=model.server.model,
        prompts=words,
        scratch=execution.scratch // 2**20,
        packages=execution.interpreter is not None,
    )
    row = evolving.begin(project, name, wanted, dataset)
    config = {"evolution": msgspec.to_builtins(wanted)}
    with (
        programs_sandbox(project, programs, cluster, run_name(name)) as sandbox,
        generating(project, run_name(name), models, config, trust=trust) as writer,
    ):
        with project.database.write() as connection:
            runs.note(connection, writer.run, sandbox.provenance())
        evolving.evolve(project, row, writer, sandbox, own=own, problems=problems, only=only, watch=watch)
    return evolved.report(project, row)


def export(project: Project, row: EvolutionRow, path: Path, *, force: bool = False) -> int:
    """Write the resulting problems for reinforcement learning, one JSON line each; return how many.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file is part of the database.
    """
    project.database.require_other(path)
    return write_lines(path, evolved.lines(project, row), force=force)
