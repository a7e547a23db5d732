"""The number of calls according to a stored trace, counted from the tree."""

from __future__ import annotations

from collections import Counter
from typing import Any


def recounted(trace: dict[str, Any]) -> Counter[str]:
    """Distinct calls by the step's last word."""
    options, rollouts = trace["options"], trace["rollouts"]
    done: list[tuple[Any, ...]] = []
    assessed: list[tuple[Any, ...]] = []
    for number, rollout in enumerate(rollouts):
        for place, step in enumerate(rollout["steps"]):
            # A node's subtask was done in the rollout that added the node, never again.
            made = number if step["node"] is None else trace["nodes"][step["node"]]["rollout"]
            past = tuple((one["subtask"], one["outcome"]) for one in rollout["steps"][:place])
            done.append({"none": (made,), "subtask": (), "history": past}[options["reuse"]] + (step["subtask"],))
        for choice in rollout["choices"]:
            past = tuple(step["subtask"] for step in rollout["steps"] if step["level"] <= level_of(trace, choice))
            assessed.append((number if options["reuse"] == "none" else 0, level_of(trace, choice), past))
    executions = [trace["execution"], *(rollout["execution"] for rollout in rollouts)]
    runs = [run for execution in executions if execution for run in execution["runs"]]
    executed = sum(run["matches"] + run["mismatches"] + run["unread"] for run in runs)
    tests = trace["tests"]
    levels = 3 if tests else 0
    counts = {
        "analyse": len(set(done)),
        "summarise": len(set(done)),
        "self-assess": len(set(assessed)) if options["selection"] == "uct+llm" else 0,
        "self-evaluate": len(rollouts) if options["reward"] == "self_evaluation" else 0,
        "global": 1,
        "execute": executed,
        "compare": executed,
        "generate": levels,
        "reformat": levels,
        "validate": tests["written"] * options["tests"]["beta"] if tests else 0,
    }
    return Counter({step: count for step, count in counts.items() if count})


def level_of(trace: dict[str, Any], choice: dict[str, Any]) -> int:
    """The level of the node at which a choice was made."""
    level: int = trace["nodes"][choice["node"]]["level"]
    return level


def check_visits(trace: dict[str, Any]) -> None:
    """The invariants of a search tree."""
    nodes, rollouts = trace["nodes"], trace["options"]["rollouts"]
    depth = len(trace["order"])
    assert nodes[0]["n"] == rollouts == len(trace["rollouts"])
    for node in nodes:
        children = [nodes[child] for child in node["children"]]
        assert len({child["action"] for child in children}) == len(children) <= 2
        if node["level"] < depth:
            assert sum(child["n"] for child in children) == node["n"] - (node["parent"] is not None)
        else:
            assert not children
        assert node["action"] != "null" or node["outcome"] is None
        through = [rollout for rollout in trace["rollouts"] if node["id"] in rollout["path"]]
        assert node["n"] == len(through)
        assert abs(node["q"] - sum(rollout["reward"] for rollout in through)) < 1e-9
    for rollout in trace["rollouts"]:
        # All levels below the path's end are simulated, and no null action among them.
        end = nodes[rollout["path"][-1]]["level"]
        assert [step["level"] for step in rollout["steps"] if step["node"] is None] == list(range(end + 1, depth + 1))
