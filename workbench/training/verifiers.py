"""A reward function for `verifiers`: ``rewards.acc.fn = "workbench.training.verifiers:judged"`` of its tasks."""

from __future__ import annotations

import asyncio
from typing import Any

from workbench.training.judging import figures, judge, said_of


async def judged(task: Any, trace: Any) -> float:
    """Whether the last reply is correct, by `rules`; the trace's metric ``undecided`` and its ``info`` say the rest.

    Args:
        task: Data of a task with the field ``answer``: the reference, or a list of which any will do.
    """
    verdict = await asyncio.to_thread(judge, task.answer, trace.last_reply, task.prompt_text)
    found = figures([verdict])
    trace.record_metric("undecided", found["undecided"])
    trace.info["rules"] = said_of(verdict)
    return found["acc"]
