"""Runs an evolution with real models and a real sandbox, and writes its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from workbench.coding.evolution import evolved, evolving
from workbench.coding.evolution.replies import PROMPTS
from workbench.coding.evolution.tables import evolution_document
from workbench.coding.options import ProgramOptions
from workbench.coding.problems import executing, programs_sandbox
from workbench.coding.records.evolution import MODES, EvolutionReport, EvolutionSettings
from workbench.coding.store.evolutions import EvolutionRow, run_name
from workbench.coding.templates import digests, own_prompts
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project
from workbench.core.run import ClusterUse
from workbench.core.selection import Shard
from workbench.data.formats.writing import new_file, write_lines
from workbench.runs.generation import Models, Watch, generating
from workbench.runs.store import runs
from workbench.tables.html import html

DEFAULTS: Final = ProgramOptions()
"""How solutions are executed unless somebody says otherwise."""


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
    shard: Shard | None = None,
    programs: ProgramOptions = DEFAULTS,
    cluster: ClusterUse | None = None,
    trust: bool = False,
    watch: Watch | None = None,
) -> EvolutionReport:
    """Run the problems of a data set through all rounds, resuming an interrupted run.

    Args:
        name: The evolution's; its suites are called after it.
        models: The one that writes tests.
        settings: Its model, its prompts and where programs run are filled in here.
        templates: Files of prompts that stand in the place of ours (`own_prompts`).
        dataset: Which data set; None for the only one that holds code problems.
        problems: Only the first so many.
        only: Only those with these ids.
        shard: Only those of this share, for several machines.
        programs: How solutions are executed.
        cluster: Where solutions run instead of here; what its nodes do is kept there.
        trust: Whether the user accepts servers that ``workbench.toml`` names.
        watch: Is told how far it is.

    Raises:
        UsageError: The name has other settings, there are several models, or it is not clear which problems are meant.
        NotTrustedError: The user has not accepted the servers.
        UnsafeError: Nothing keeps solutions in here, and the user has not agreed to that.
        RunError: No call can succeed now, or another process is at work; what was done is stored.
    """
    if len(models.models) != 1:
        raise UsageError("One model writes the tests of an evolution.", f"Give {opt.model} once.")
    (model,) = models.models.values()
    own = own_prompts(templates, MODES)
    words = ", ".join([PROMPTS] * (len(own) < len(MODES)) + [f"{asked} {one}" for asked, one in digests(own).items()])
    execution = executing(programs.execution)
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
        evolving.evolve(project, row, writer, sandbox, own=own, problems=problems, only=only, shard=shard, watch=watch)
    return evolved.report(project, row)


def write_page(project: Project, row: EvolutionRow, path: Path, *, made: str, force: bool = False) -> None:
    """Write an evolution's tables and plots as one self-contained page.

    Args:
        made: When that is, in words: the only part that differs between two pages of the same evolution.
        force: Replace an existing file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    with new_file(path, force=force) as file:
        file.write(html(evolution_document(evolved.report(project, row), made)).encode())


def export(project: Project, row: EvolutionRow, path: Path, *, force: bool = False) -> int:
    """Write the resulting problems for reinforcement learning, one JSON line each; return how many.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file belongs to the database itself.
    """
    project.database.require_other(path)
    return write_lines(path, evolved.lines(project, row), force=force)
