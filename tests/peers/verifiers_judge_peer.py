"""Run by a Python that has verifiers and this package: a task whose configuration plugs `judge` in as its reward.

python verifiers_judge_peer.py CASES   prints what the scored traces hold: no network, no model
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import verifiers.v1 as vf  # type: ignore[import-not-found]

CASES = json.loads(Path(sys.argv[1]).read_text())
REWARDS = {"acc": {"fn": "workbench.training.verifiers:judged"}}


class CaseData(vf.TaskData):  # type: ignore[misc]
    answer: list[str]


class CaseTask(vf.Task[CaseData, vf.State, vf.TaskConfig]):  # type: ignore[misc]
    pass


async def scored(place: int, case: dict[str, Any]) -> vf.Trace:
    task = CaseTask(CaseData(idx=place, prompt=case["question"], answer=case["answer"]), vf.TaskConfig(rewards=REWARDS))
    trace = vf.Trace(
        task=vf.TraceTask(type=type(task).__name__, data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig(model="none")),
        root_reply=case["completion"],
    )
    await task.score(trace)
    return trace


async def main() -> None:
    traces = await asyncio.gather(*(scored(place, case) for place, case in enumerate(CASES)))
    rows = [{"acc": trace.reward, "undecided": trace.metrics["undecided"]} for trace in traces]
    found = {
        "rows": rows,
        "answers": [trace.info["rules"]["candidate_final"] for trace in traces],
        "reasons": [trace.info["rules"]["reason"] for trace in traces],
        "figures": [{name: sum(row[name] for row in rows) / len(rows) for name in ("acc", "undecided")}],
    }
    print(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    asyncio.run(main())
