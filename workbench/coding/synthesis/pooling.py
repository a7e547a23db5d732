"""A pool of solutions: of several models some each, whatever they are worth (EvolveCoder 2.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

from workbench.coding.records.refinement import PoolReport
from workbench.coding.synthesis.asking import PROMPTS, request_for_solution
from workbench.coding.synthesis.joining import join
from workbench.coding.targets import EVERY_PROBLEM, Targets, code_dataset, problems_for
from workbench.core.code_record import SolutionRecord
from workbench.core.database.secrets import secret
from workbench.core.project import Project
from workbench.core.transactions import some_at_a_time
from workbench.data.store.tests import problems_of
from workbench.llm.records import Sampling
from workbench.runs.generation import Models, Watch, generating
from workbench.runs.writing import WritingRequest

USUAL: Final = Sampling(temperature=0.6, top_p=0.95)
"""How solutions are drawn unless somebody says otherwise (EvolveCoder 4.1)."""

_TOGETHER: Final = 32


def fill(
    project: Project,
    name: str,
    models: Models,
    samples: int,
    *,
    targets: Targets = EVERY_PROBLEM,
    trust: bool = False,
    watch: Watch | None = None,
) -> PoolReport:
    """Ask every model for so many solutions of each problem, and add all replies to the data set as they are.

    The same call goes on after a kill, and asks nothing twice.

    Args:
        name: What they are called: their ids begin with it.
        samples: Solutions of each model.
        targets: Which problems.
        trust: Whether the user accepts servers that ``workbench.toml`` names.
        watch: Is told how far the calls are.

    Raises:
        UsageError: The name was used for something else, or it is not clear which problems are meant.
        NotTrustedError: The user has not accepted the servers.
        RunError: No call can succeed now, or another process is at work; what was answered is stored.
    """
    dataset = code_dataset(project, targets.dataset)
    chosen, skipped = problems_for(project, dataset, targets, needs_calls=False)
    added = failed = 0
    with generating(
        project, f"pools/{name}", models, {"prompt_sha256": PROMPTS["correct"]}, trust=trust, watch=watch
    ) as writer:
        for some in some_at_a_time(chosen, _TOGETHER):
            wanted = list(_wanted(project, some, models, samples))
            replies = writer.ask([asked for _, asked in wanted])
            records = [
                _record(name, task_id, models.models[asked.model].server.model, asked, reply)
                for (task_id, asked), reply in zip(wanted, replies, strict=True)
                if reply is not None
            ]
            failed += len(replies) - len(records)
            added += join(project, dataset, f"pools/{name}", records)
    return PoolReport(
        dataset=dataset.name,
        run=writer.run,
        problems=len(chosen),
        models=len(models.models),
        samples=samples,
        added=added,
        failed=failed,
        skipped=skipped,
    )


def _wanted(
    project: Project, questions: Sequence[int], models: Models, samples: int
) -> Iterator[tuple[str, WritingRequest]]:
    """Each problem's id with a request, in order."""
    key = secret(project.database.reader())
    problems = problems_of(project.database, questions, [])
    for question in questions:
        messages = request_for_solution(problems[question], "correct", key)
        for model, sample in product(models.models, range(samples)):
            yield (
                problems[question].task_id,
                WritingRequest(messages=messages, sample=sample, step="solutions", model=model),
            )


def _record(name: str, task_id: str, model: str, asked: WritingRequest, reply: str) -> SolutionRecord:
    return SolutionRecord(
        task_id=task_id,
        solution_id=f"{name}-{asked.model}-{asked.sample + 1}",
        code=reply,
        form="reply",
        model=model,
    )
