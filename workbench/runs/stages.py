"""Run a stack: its local verifiers judge in worker processes, the others call model servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from workbench.core.errors import VerifierError
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Halt
from workbench.runs.executor import ExecutorClosed, LocalExecutor
from workbench.runs.first_stage import LeftToWorker
from workbench.verifiers.base import ServedVerifier
from workbench.verifiers.stacks.stack import LocalJudge, Stack


@contextmanager
def with_stage_workers(verifier: ServedVerifier, workers: int | None = None) -> Iterator[ServedVerifier]:
    """Yield the verifier, ready to judge: the local stages of a stack have worker processes during the block.

    Args:
        workers: Worker processes of each stage that needs them; by default one per core.
    """
    if not isinstance(verifier, Stack):
        yield verifier
        return
    with ExitStack() as exits:
        judges = {}
        for part in verifier.local_parts:
            executor = LocalExecutor(part.verifier, part.spec, workers or os.cpu_count() or 1)
            exits.callback(executor.close)
            judges[part.name] = _judge_with(executor)
        yield verifier.with_judges(judges)


def _judge_with(executor: LocalExecutor) -> LocalJudge:
    async def judge(item: VerifierInput) -> Verdict:
        answer = executor.judge_first_stage(item)
        if not isinstance(answer, LeftToWorker):
            return answer
        try:
            return await asyncio.wrap_future(executor.later(item, answer))
        except (VerifierError, ExecutorClosed) as error:
            # The cause isn't the item.
            raise Halt("cancelled", str(error) or "The run stops.") from error

    return judge
