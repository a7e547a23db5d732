"""An independent recomputation of a search from its stored trace.

Draws, UCT, predictions, h, rewards, weights and the answer are computed from the recorded outcomes of subtasks,
self-assessments and comparisons. `differences` lists every deviation of the trace.
"""

from __future__ import annotations

import hashlib
import math
import random
from typing import Any

SEEDS_APART = 1e-9


def differences(trace: dict[str, Any], question: str, completion: str) -> list[str]:
    """List where the trace does not follow from the recorded replies."""
    found: list[str] = []
    options, depth = trace["options"], len(trace["order"])
    seed = options["tests"]["seed"]
    root = f"{seed}:{hashlib.sha256(b''.join(map(_digest, (question, completion)))).hexdigest()}"
    q: dict[int, float] = {0: 0.0}
    n: dict[int, int] = {0: 0}
    level, action, children = {0: 0}, {0: None}, {0: []}  # type: ignore[var-annotated]
    stored = {node["id"]: node for node in trace["nodes"]}
    earlier: list[bool | None] = []
    for number, rollout in enumerate(trace["rollouts"]):
        # Selection: down from the root while both children are there.
        at, path, choices = 0, [0], list(rollout["choices"])
        while level[at] < depth and len(children[at]) == 2:
            said = choices.pop(0)
            values: dict[Any, float] = {}
            for child in children[at]:
                values[action[child]] = q[child] / n[child] + options["alpha"] * math.sqrt(math.log(n[at]) / n[child])
            best = "subtask" if values["subtask"] >= values["null"] else "null"
            weight = options["w_u"] / (options["w_u"] + options["w_l"])
            by_model = options["selection"] == "uct+llm" and said["assessed"] is not None
            taken = said["assessed"] if by_model and _number(root, ("select", number, level[at])) >= weight else best
            if (said["node"], said["favourite"], said["chosen"]) != (at, best, taken):
                found.append(f"rollout {number}: at node {at} UCT says {best}, so that {taken} follows; stored: {said}")
            at = next(child for child in children[at] if action[child] == taken)
            path.append(at)
        if choices:
            found.append(f"rollout {number}: {len(choices)} choices that nothing asked for")
        # Expansion: one of the untried actions.
        if level[at] < depth:
            untried = [one for one in ("subtask", "null") if one not in [action[child] for child in children[at]]]
            drawn = untried[int(random.Random(f"{root}:{('expand', number)}").random() * len(untried))]
            at = _grown(at, drawn, level, action, children, q, n)
            path.append(at)
        # Simulation: every subtask that is left, as nodes only where the option says so.
        if options["simulation"] == "nodes":
            while level[at] < depth:
                at = _grown(at, "subtask", level, action, children, q, n)
                path.append(at)
        if rollout["path"] != path:
            found.append(f"rollout {number}: the path is {path}, stored {rollout['path']}")
            return found
        steps = {step["level"]: step["outcome"] for step in rollout["steps"]}
        skipped = {level[node] for node in path if action[node] == "null"}
        if set(steps) != set(range(1, depth + 1)) - skipped:
            found.append(f"rollout {number}: steps at levels {sorted(steps)}, null actions at {sorted(skipped)}")
        for node in path[1:]:
            if action[node] == "subtask" and stored[node]["outcome"] != steps[level[node]]:
                found.append(f"rollout {number}: node {node} keeps another outcome than its step")
        f = _predicted(list(steps.values()), trace["g"], options["global_mode"])
        if f != rollout["f"]:
            found.append(f"rollout {number}: f is {f}, stored {rollout['f']}")
        earlier.append(f)
        reward = options["epsilon"] if _earned(trace, rollout, f, steps, earlier) else 0.0
        if reward != rollout["reward"]:
            found.append(f"rollout {number}: it earns {reward}, stored {rollout['reward']}")
        for node in path:
            q[node] += reward
            n[node] += 1
    for node in trace["nodes"]:
        if node["n"] != n.get(node["id"]) or abs(node["q"] - q[node["id"]]) > SEEDS_APART:
            found.append(f"node {node['id']}: N {n.get(node['id'])}, Q {q.get(node['id'])}, stored {node}")
    return found + _answered(trace, root, q)


def _grown(
    at: int,
    taken: str,
    level: dict[int, int],
    action: dict[int, Any],
    children: dict[int, list[int]],
    q: dict[int, float],
    n: dict[int, int],
) -> int:
    new = len(level)
    level[new], action[new], children[new], q[new], n[new] = level[at] + 1, taken, [], 0.0, 0
    children[at].append(new)
    return new


def _predicted(outcomes: list[bool | None], g: bool | None, mode: str) -> bool | None:
    """More Yes than No; as many of both are No, or what g says where g breaks ties."""
    votes = [*outcomes, g] if mode == "vote" else outcomes
    yes, no = votes.count(True), votes.count(False)
    if yes + no == 0:
        return g if mode == "tiebreak" else None
    return bool(g) if yes == no and mode == "tiebreak" else yes > no


def _executed(execution: dict[str, Any], delta: int) -> bool | None:
    """h: every test passes in more than half of its executions."""
    passed: list[bool | None] = []
    for run in execution["runs"]:
        if 2 * run["matches"] > delta:
            passed.append(True)
        else:
            # Even if all that were not made or not read had matched.
            passed.append(False if 2 * (delta - run["mismatches"]) <= delta else None)
    return False if False in passed else None if None in passed else True


def _earned(
    trace: dict[str, Any],
    rollout: dict[str, Any],
    f: bool | None,
    steps: dict[int, bool | None],
    so_far: list[bool | None],
) -> bool:
    if f is None:
        return False
    kind = trace["reward"]
    if kind == "self_consistency":
        # A tie has no majority.
        return so_far.count(f) > so_far.count(not f)
    if kind == "self_evaluation":
        return rollout["sound"] is True
    if kind == "discussion" or not trace["tests"]["kept"]:
        return bool(steps) and all(outcome is True for outcome in steps.values())
    execution = rollout["execution"] if trace["options"]["reward_tests"] == "per_rollout" else trace["execution"]
    h = _executed(execution, trace["options"]["tests"]["delta"])
    assert h == execution["h"], (h, execution)
    return h is f


def _answered(trace: dict[str, Any], root: str, q: dict[int, float]) -> list[str]:
    weights = []
    for rollout in trace["rollouts"]:
        weights.append(
            {
                "terminal": rollout["reward"],
                "states": rollout["reward"] * len(rollout["steps"]),
                "node_q": sum(q[node] for node in rollout["path"] if node != 0),
            }[trace["options"]["traj_weight"]]
        )
    found = [
        f"rollout {number}: R is {weight}, stored {rollout['weight']}"
        for number, (weight, rollout) in enumerate(zip(weights, trace["rollouts"], strict=True))
        if abs(weight - rollout["weight"]) > SEEDS_APART
    ]
    known = [(number, rollout["f"]) for number, rollout in enumerate(trace["rollouts"]) if rollout["f"] is not None]
    total = sum(weights[number] for number, _ in known)
    answer: dict[str, Any] = {"correct": None, "score": None, "no_reward": True, "chosen": None}
    if known and total == 0:
        yes = sum(f for _, f in known)
        answer |= {"correct": 2 * yes > len(known), "score": yes / len(known)}
    elif known:
        mark, chosen = _number(root, ("answer",)) * total, known[-1][0]
        for number, _ in known:
            mark -= weights[number]
            if mark < 0:
                chosen = number
                break
        yes = sum(weights[number] for number, f in known if f)
        answer = {"correct": dict(known)[chosen], "score": yes / total, "no_reward": False, "chosen": chosen}
    for name, value in answer.items():
        said = trace["answer"][name]
        same = abs(value - said) < SEEDS_APART if isinstance(value, float) and said is not None else value == said
        if not same:
            found.append(f"the answer's {name} is {value}, stored {said}")
    return found


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _number(root: str, purpose: tuple[object, ...]) -> float:
    return random.Random(f"{root}:{purpose}").random()
