"""A reward function for `verifiers`: ``rewards.acc.fn = "workbench.training.verifiers:judged"`` of its tasks.

For another verifier, define in a module ``my_rewards`` and set ``rewards.acc.fn = "my_rewards:judged"``:

    judged = judged_by("cascade", database="p.db", deadline=60)

"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from workbench.training.judging import MAX_CONCURRENT, judging_by, verdict_fields


def judged_by(
    verifier: str = "rules", reference: str = "answer", **settings: Any
) -> Callable[[Any, Any], Coroutine[Any, Any, float]]:
    """Return a reward function that scores the last reply.

    It also sets the trace's metric ``undecided``, and the verdict in the trace's ``info`` under the verifier's name.

    Args:
        verifier: See `workbench.reward`.
        reference: The field of the task's data with the reference or a list of alternatives; for a verifier that runs
            solutions, with the tests (the data may also have ``entry_point`` etc.).
        **settings: Other arguments of `workbench.reward`, such as ``database`` and ``deadline``.
    """
    judging = judging_by(verifier, settings)

    async def judged(task: Any, trace: Any) -> float:
        row = {name: getattr(task, name) for name in judging.fields(reference) if hasattr(task, name)}
        wanted = judging.reference_in(row, reference)
        loop, asked = asyncio.get_running_loop(), (wanted, trace.last_reply, task.prompt_text)
        verdict = await loop.run_in_executor(_threads(), judging.verdict, *asked)
        found = judging.figures([verdict])
        trace.record_metric("undecided", found["undecided"])
        trace.info[judging.name] = verdict_fields(verdict)
        return found["acc"]

    return judged


judged = judged_by()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_CONCURRENT, "workbench-judged")
