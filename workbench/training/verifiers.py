"""A reward function for `verifiers`: ``rewards.acc.fn = "workbench.training.verifiers:judged"`` of its tasks.

By another verifier, in a module of one's own, ``rewards.acc.fn = "my_rewards:judged"``:

    judged = judged_by("cascade", database="p.db", deadline=60)
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

from workbench.training.judging import AT_ONCE, judging_by, verdict_fields


def judged_by(
    verifier: str = "rules", reference: str = "answer", **settings: Any
) -> Callable[[Any, Any], Coroutine[Any, Any, float]]:
    """Return a reward function that scores the last reply.

    The trace's metric ``undecided`` and its ``info`` under the verifier's name say the rest.

    Args:
        verifier: As `workbench.reward` takes it.
        reference: The field of the task's data with the reference, or a list of which any will do; where solutions are
            run, with the tests, beside which ``entry_point`` and the like may stand.
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
    return ThreadPoolExecutor(AT_ONCE, "workbench-judged")
