"""Build requests for tests and solutions, and fill pools with solutions. The prompts' wording is our own; the tasks are
the paper's.

Source: Scoring Verifiers, figures 8, 13 and 14.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Final, get_args

import msgspec
from msgspec import structs

from workbench.coding.options import Targets
from workbench.coding.problems import EVERY_PROBLEM, Dataset, code_dataset, problems_for
from workbench.coding.records.figures import PoolReport, SolutionKind
from workbench.coding.templates import OURS, OwnPrompt, OwnPrompts, digests, own_prompts
from workbench.core.code import Problem, SolutionRecord
from workbench.core.database.hashes import secret
from workbench.core.errors import UsageError, opt
from workbench.core.project import Project, batches
from workbench.data.store import importing
from workbench.data.store.problems import extra_texts
from workbench.data.store.tests import problems_of
from workbench.llm.records import PromptMessage, Sampling
from workbench.runs.generation import Models, Watch, WritingRequest, generating
from workbench.verifiers.judges.case import JudgeCase, fill_call
from workbench.verifiers.judges.template import Prompt, prompt

KINDS: Final[tuple[SolutionKind, ...]] = get_args(SolutionKind)
_HERE: Final = Path(__file__).parent
_TEXTS: Final = frozenset({"question", "solution"})
_TESTS: Final = prompt(_HERE / "tests.txt", "tests", _TEXTS)
_SOLUTIONS: Final = {kind: prompt(_HERE / f"{kind}.txt", kind, frozenset({"question"})) for kind in KINDS}
PROMPTS: Final[dict[str, str]] = {"tests": _TESTS.sha256, **{kind: one.sha256 for kind, one in _SOLUTIONS.items()}}
"""sha256 of each prompt, by its purpose."""


def request_for_tests(
    problem: Problem, count: int, secret: bytes, solution: str = "", own: OwnPrompt | None = None
) -> tuple[PromptMessage, ...]:
    """Return the request for tests of a problem.

    Args:
        count: Number of tests.
        secret: The database's secret, for the delimiters around texts.
        solution: Code to show to the model; "" for none.
        own: A custom prompt that replaces the built-in one.
    """
    if own is not None:
        return own.messages({"question": problem.prompt, "solution": solution, "count": str(count)})
    return _build_request(_TESTS, problem, secret, {"question": problem.prompt, "solution": solution}, count=str(count))


def request_for_solution(
    problem: Problem, kind: SolutionKind, secret: bytes, own: OwnPrompts = OURS
) -> tuple[PromptMessage, ...]:
    """Return the request for a solution; ``secret`` as in `request_for_tests`, ``own``: prompts by kind."""
    if kind in own:
        return own[kind].messages({"question": problem.prompt})
    return _build_request(_SOLUTIONS[kind], problem, secret, {"question": problem.prompt})


def _build_request(
    asked: Prompt, problem: Problem, secret: bytes, texts: dict[str, str], **words: str
) -> tuple[PromptMessage, ...]:
    name = problem.entry_point or ""
    # Only texts have delimiters: other inserted values must be bare names.
    call = fill_call(asked.call, entry_point=name if name.isidentifier() else "", **words)
    if not texts.get("solution"):
        call = fill_call(call, solution="")
    return JudgeCase(item=0, texts=texts, secret=secret, neutralise=True).prepare(call).chat.messages


# -- Model-written solutions are added to a data set as a separate import.


def add_solutions(project: Project, dataset: Dataset, place: str, records: Sequence[SolutionRecord]) -> int:
    """Add solutions to a data set; return how many are new.

    Args:
        place: The recorded source in place of a file, such as ``pools/NAME``.

    Raises:
        UsageError: A different solution has the same id.
        StoreError: An import is running.
    """
    if not records:
        return 0
    content = hashlib.blake2b(msgspec.json.encode(records), digest_size=32)
    file = importing.ImportKey(path=place, format="generated", mapping="{}")
    with importing.import_session(project.database, dataset.name) as session, session.file(file) as target:
        for refused in target.add(records, []):
            raise UsageError(refused.message, f"Give these solutions another {opt.name}.")
        target.complete(content.digest())
        return target.counts.imported


# -- A pool of solutions: some of each of several models, of any quality (EvolveCoder 2.3).


USUAL: Final = Sampling(temperature=0.6, top_p=0.95)
"""The default sampling of solutions (EvolveCoder 4.1)."""
_BATCH_PROBLEMS: Final = 32


def fill_pool(
    project: Project,
    name: str,
    models: Models,
    samples: int,
    *,
    targets: Targets = EVERY_PROBLEM,
    templates: Sequence[str] = (),
    field: str | None = None,
    trust: bool = False,
    watch: Watch | None = None,
) -> PoolReport:
    """Request solutions of each problem from every model, and add all replies to the data set unchanged.

    After a kill the same call continues, and repeats no request.

    Args:
        name: The pool's name: the solutions' ids begin with it.
        samples: Number of solutions of each problem by each model.
        targets: The problems.
        templates: Files of custom prompts (`own_prompts`).
        field: A field of the problem's row that replaces the problem's text, such as BigCodeBench's instruct_prompt.
        trust: Whether the user approves servers that ``workbench.toml`` names.
        watch: Called with the progress of the calls.

    Raises:
        UsageError: The name is used for something else, or the problems are ambiguous.
        NotTrustedError: The user has not approved the servers.
        RunError: No call can succeed now, or another process has locked the database; replies received are stored.
    """
    own = own_prompts(templates, ("correct",))
    dataset = code_dataset(project, targets.dataset)
    chosen, skipped = problems_for(project, dataset, targets, needs_calls=False)
    added = failed = 0
    about = {"prompt_sha256": {**PROMPTS, **digests(own)}["correct"]}
    texts: dict[int, str] | None = None
    if field is not None:
        about["field"] = field
        texts = extra_texts(project.database.reader(), dataset.id, field)
        lacking = [one for one in chosen if one not in texts]
        chosen = [one for one in chosen if one in texts]
        skipped |= {"no_field": len(lacking)} if lacking else {}
    with generating(project, f"pools/{name}", models, about, trust=trust, watch=watch) as writer:
        for some in batches(chosen, _BATCH_PROBLEMS):
            wanted = list(_requests(project, some, models, samples, own, texts))
            replies = writer.ask([asked for _, asked in wanted])
            records = [
                _solution_record(name, task_id, models.models[asked.model].server.model, asked, reply)
                for (task_id, asked), reply in zip(wanted, replies, strict=True)
                if reply is not None
            ]
            failed += len(replies) - len(records)
            added += add_solutions(project, dataset, f"pools/{name}", records)
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


def _requests(
    project: Project,
    questions: Sequence[int],
    models: Models,
    samples: int,
    own: OwnPrompts,
    texts: Mapping[int, str] | None,
) -> Iterator[tuple[str, WritingRequest]]:
    key = secret(project.database.reader())
    problems = problems_of(project.database, questions, [])
    for question in questions:
        problem = problems[question]
        shown = problem if texts is None else structs.replace(problem, prompt=texts[question])
        messages = request_for_solution(shown, "correct", key, own)
        for model, sample in product(models.models, range(samples)):
            yield (
                problems[question].task_id,
                WritingRequest(messages=messages, sample=sample, step="solutions", model=model),
            )


def _solution_record(name: str, task_id: str, model: str, asked: WritingRequest, reply: str) -> SolutionRecord:
    return SolutionRecord(
        task_id=task_id, solution_id=f"{name}-{asked.model}-{asked.sample + 1}", code=reply, form="reply", model=model
    )
