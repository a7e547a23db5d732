"""From outcomes to the answer: a trajectory's prediction, its weight, and the trajectory that is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.verifiers.judges.mcts.subtasks import GlobalMode, TrajectoryWeight
from workbench.verifiers.judges.mcts.tree import Rollout, SearchResult, Tree
from workbench.verifiers.judges.voting import Draws


def decision(votes: Iterable[bool | None], tie: bool | None = False) -> bool | None:
    """Return the majority of the votes; ``tie`` if they are even, None without votes."""
    known = [vote for vote in votes if vote is not None]
    ayes = 2 * sum(known)
    if not known:
        return None
    return tie if ayes == len(known) else ayes > len(known)


def prediction(outcomes: Iterable[bool | None], g: bool | None, mode: GlobalMode) -> bool | None:
    """Return f(t, g): the majority of a trajectory's outcomes and the global evaluation; a tie is incorrect.

    Source: MCTS-Judge, section 3.2. The paper doesn't say how g is "combined"; ``mode`` chooses: as one more vote, or
    to break a tie.
    """
    if mode == "vote":
        return decision((*outcomes, g))
    found = decision(outcomes, tie=bool(g))
    return g if found is None else found


def weigh(rollouts: Sequence[Rollout], tree: Tree, by: TrajectoryWeight) -> None:
    """Set R(t) = sum of r(s) over a trajectory's states. Source: MCTS-Judge, section 3.1.

    The paper's reward is terminal, so that r(s) is 0 except in the last state: ``terminal``. With ``states`` each state
    of the trajectory earns it, so that a longer trajectory weighs more. With ``node_q`` r(s) is what the node has
    earned in all rollouts.
    """
    for rollout in rollouts:
        match by:
            case "terminal":
                rollout.weight = rollout.reward
            case "states":
                rollout.weight = rollout.reward * len(rollout.steps)
            case "node_q":
                rollout.weight = sum(tree.nodes[node].q for node in rollout.path[1:])


def answer(rollouts: Sequence[Rollout], draws: Draws) -> SearchResult:
    """Draw the trajectory whose prediction is the answer. Source: MCTS-Judge, section 3.1."""
    readable = [place for place, rollout in enumerate(rollouts) if rollout.f is not None]
    weights = [rollouts[place].weight for place in readable]
    said = [bool(rollouts[place].f) for place in readable]
    if not readable:
        return SearchResult(correct=None, score=None, no_reward=True, chosen=None)
    if not any(weights):
        return SearchResult(correct=decision(said), score=sum(said) / len(said), no_reward=True, chosen=None)
    drawn = readable[draws.weighted(weights, "answer")]
    score = sum(weight for weight, yes in zip(weights, said, strict=True) if yes) / sum(weights)
    return SearchResult(correct=rollouts[drawn].f, score=score, no_reward=False, chosen=drawn)
