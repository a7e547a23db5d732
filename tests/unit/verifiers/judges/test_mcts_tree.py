"""The arithmetic of the search: draws, UCT, votes, and weights of trajectories."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.verifiers.judges.mcts.subtasks import subtask_list
from workbench.verifiers.judges.mcts.tree import Rollout, Tree, answer, backpropagate, decision, prediction, uct, weigh
from workbench.verifiers.judges.voting import Draws

VOTES = st.lists(st.sampled_from([True, False, None]), max_size=12)


def rollout(f: bool | None, weight: float = 0.0, reward: float = 0.0, path: tuple[int, ...] = (0,)) -> Rollout:
    return Rollout(path=list(path), choices=[], steps=[], f=f, flagged=False, reward=reward, weight=weight)


def test_draws_depend_only_on_seed_and_content() -> None:
    one = Draws(1, "question", "completion")
    assert one.number("select", 3, 2) == Draws(1, "question", "completion").number("select", 3, 2)
    others = [Draws(2, "question", "completion"), Draws(1, "questioncomp", "letion"), Draws(1, "question", "other")]
    assert len({draws.number("select", 3, 2) for draws in (one, *others)}) == 4
    assert one.number("select", 3, 2) != one.number("select", 2, 3)


def test_draws_are_the_same_in_every_release() -> None:
    draws = Draws(7, "q", "c")
    assert [round(draws.number("select", number), 6) for number in range(3)] == [0.126205, 0.923361, 0.37904]
    assert draws.sample(range(10), 4, "tests", 0) == [2, 1, 7, 5]


@given(st.integers(0, 50), st.integers(0, 12), st.text(max_size=4))
def test_a_sample_repeats_nothing(size: int, count: int, text: str) -> None:
    drawn = Draws(0, text).sample(range(size), count, "tests")
    assert len(drawn) == len(set(drawn)) == min(size, count)
    assert set(drawn) <= set(range(size))


def test_a_sample_is_uniform() -> None:
    drawn = Counter(Draws(seed, "text").sample("abc", 1, "expand")[0] for seed in range(3000))
    assert all(900 < drawn[letter] < 1100 for letter in "abc")


def test_weighted_draws_follow_the_weights() -> None:
    drawn = Counter(Draws(seed, "text").weighted([1.1, 0.0, 3.3], "answer") for seed in range(2000))
    assert drawn[1] == 0
    assert 0.70 < drawn[2] / 2000 < 0.80


def test_uct_follows_the_paper_and_ties_go_to_the_subtask() -> None:
    tree = Tree(2, 3.0)
    task, null = tree.add(tree.root, "subtask", 0), tree.add(tree.root, "null", 1)
    backpropagate([tree.root, task], 1.1)
    backpropagate([tree.root, null], 1.1)
    assert tree.favourite(tree.root) == "subtask"
    assert uct(null, 2, 3.0) == pytest.approx(1.1 + 3 * 0.6931471805599453**0.5)
    backpropagate([tree.root, task], 0.0)
    assert tree.favourite(tree.root) == "null"


def test_a_node_has_two_actions_except_at_the_greatest_depth() -> None:
    tree = Tree(1, 3.0)
    assert tree.untried(tree.root) == ("subtask", "null")
    leaf = tree.add(tree.root, "null", 0)
    assert tree.untried(tree.root) == ("subtask",)
    assert tree.untried(leaf) == ()


@given(VOTES, st.booleans())
def test_a_decision_counts_only_votes(votes: list[bool | None], tie: bool) -> None:
    ayes, noes = votes.count(True), votes.count(False)
    expected = None if not ayes + noes else tie if ayes == noes else ayes > noes
    assert decision(votes, tie) is expected


@pytest.mark.parametrize(
    ("outcomes", "g", "vote", "tiebreak"),
    [
        ([True, True, False], False, False, True),
        ([True, False], True, True, True),
        ([True, False], None, False, False),
        ([], True, True, True),
        ([None, None], False, False, False),
        ([None], None, None, None),
    ],
)
def test_g_is_a_vote_or_a_tiebreak(
    outcomes: list[bool | None], g: bool | None, vote: bool | None, tiebreak: bool | None
) -> None:
    assert prediction(outcomes, g, "vote") is vote
    assert prediction(outcomes, g, "tiebreak") is tiebreak


def test_a_trajectory_weighs_its_nodes_or_its_reward() -> None:
    tree = Tree(2, 3.0)
    task = tree.add(tree.root, "subtask", 0)
    leaf = tree.add(task, "null", 1)
    first, second = rollout(True, reward=1.1, path=(0, 1)), rollout(False, path=(0, 1, 2))
    backpropagate([tree.root, task], 1.1)
    backpropagate([tree.root, task, leaf], 0.0)
    weigh([first, second], tree, "node_q")
    assert (first.weight, second.weight) == (1.1, 1.1)
    weigh([first, second], tree, "terminal")
    assert (first.weight, second.weight) == (1.1, 0.0)


def test_the_answer_is_a_weighted_trajectory() -> None:
    trajectories = [rollout(True, 3.3), rollout(False, 0.0), rollout(False, 1.1), rollout(None, 5.5)]
    answers = [answer(trajectories, Draws(seed, "text")) for seed in range(1000)]
    assert {found.chosen for found in answers} == {0, 2}
    assert all(found.score == pytest.approx(0.75) and not found.no_reward for found in answers)
    assert 0.70 < sum(found.correct is True for found in answers) / 1000 < 0.80


def test_without_a_reward_the_majority_decides_and_is_marked() -> None:
    found = answer([rollout(True), rollout(True), rollout(False), rollout(None)], Draws(0, "text"))
    assert (found.correct, found.no_reward, found.chosen) == (True, True, None)
    assert answer([rollout(True), rollout(False)], Draws(0, "text")).correct is False
    assert answer([rollout(None)], Draws(0, "text")).correct is None


def test_the_list_of_subtasks_is_complete() -> None:
    listed = subtask_list()
    assert len(listed.subtask) == len({subtask.id for subtask in listed.subtask}) == 9
    assert subtask_list().for_item({"question": "q", "completion": "c", "reference": "r"}) == listed.subtask
    assert subtask_list().for_item({"question": "q", "completion": "c", "example": "e"}) == listed.subtask
    without = subtask_list().for_item({"question": "q", "completion": "c"})
    assert [subtask.id for subtask in listed.subtask if subtask not in without] == ["comparison"]
