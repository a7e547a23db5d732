"""Leases and nodes without a cluster: every result arrives exactly once, whichever nodes die."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.code import Execution, Program
from workbench.core.errors import RunError
from workbench.core.run import ClusterUse
from workbench.llm.records import Halt
from workbench.runs import cluster, cluster_pool
from workbench.runs.cluster import Feed, NodeAbout, NodeReply, Nodes, ReadingNode
from workbench.runs.cluster_pool import SandboxNode
from workbench.runs.local import PacedIterator, ResultSink
from workbench.verifiers.execution import levels
from workbench.verifiers.execution.settings import DEFAULTS
from workbench.verifiers.registry import Registry

GOOD = NodeAbout(version="1", identity="i")


class RayError(Exception):
    """As Ray's: an actor or its node has died."""


class RayTaskError(RayError):
    """As Ray's: what was asked has raised."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class Actor:
    """Lives on a node, until chance has it die."""

    def __init__(self, ray: FakeRay, node: str, held: Any) -> None:
        self._ray, self.node, self._held = ray, node, held
        self.dead = self.worked = False

    def __getattr__(self, name: str) -> Any:
        return SimpleNamespace(
            remote=lambda *args: RemoteCall(self, name, args, lambda: getattr(self._held, name)(*args))
        )


class RemoteCall:
    def __init__(self, actor: Actor, name: str, args: tuple[Any, ...], work: Callable[[], Any]) -> None:
        self.actor, self.name, self.args, self.work = actor, name, args, work


class FakeRay:
    """The part of Ray that `Nodes` needs, in one thread; answers arrive in any order.

    Args:
        deaths: Number of times an actor or its node dies instead of answering.
    """

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
    util = SimpleNamespace(scheduling_strategies=SimpleNamespace(NodeAffinitySchedulingStrategy=lambda id, soft: id))

    def __init__(self, seed: int, nodes: int, deaths: int) -> None:
        self._random, self._deaths = Random(seed), deaths
        self._alive = [f"node{number}" for number in range(nodes)]
        self.killed = 0

    def nodes(self) -> list[dict[str, Any]]:
        head = {"NodeID": "head", "Alive": True, "NodeManagerHostname": "h", "Resources": {}}
        return [head] + [
            {"NodeID": id, "Alive": True, "NodeManagerHostname": "h", "Resources": {"CPU": 2.0}} for id in self._alive
        ]

    def remote(self, **there: Any) -> Callable[[type], Any]:
        node = there["scheduling_strategy"]
        return lambda made: SimpleNamespace(remote=lambda *args: Actor(self, node, made(*args)))

    def wait(
        self, calls: list[RemoteCall], num_returns: int, timeout: float
    ) -> tuple[list[RemoteCall], list[RemoteCall]]:
        chosen = self._random.choice(calls)
        return [chosen], [one for one in calls if one is not chosen]

    def get(self, call: RemoteCall) -> Any:
        if not call.actor.dead and self._deaths and self._random.random() < 0.3:
            self._deaths -= 1
            call.actor.dead = True
            if self._random.random() < 0.5 and call.actor.node in self._alive:
                self._alive.remove(call.actor.node)
                self._alive.append(f"{call.actor.node}+")
        if call.actor.dead:
            raise RayError
        try:
            return call.work()
        except Exception as error:
            raise RayTaskError(error) from error

    def kill(self, actor: Actor) -> None:
        actor.dead = True
        self.killed += 1


class Worker:
    """Does some at once, some later, and gives some back."""

    def __init__(self) -> None:
        self._random, self._later = Random(0), list[tuple[int, int]]()

    def about(self) -> NodeAbout:
        return GOOD

    def work(self, pieces: list[tuple[int, int]]) -> NodeReply[int]:
        done, back = list[tuple[int, int]](), list[int]()
        self._later, under_way = [], self._later
        for number, payload in [*under_way, *pieces]:
            chance = self._random.random()
            if chance < 0.5:
                done.append((number, -payload))
            elif chance < 0.7 and (number, payload) in pieces:
                back.append(number)
            else:
                self._later.append((number, payload))
        return NodeReply(done, back)


class Broken(Worker):
    def work(self, pieces: list[tuple[int, int]]) -> NodeReply[int]:
        raise ValueError("no room for workers")


class Sink(ResultSink):
    def __init__(self) -> None:
        self.noted: ClusterUse | None = None
        self.checks = 0

    def check(self) -> None:
        self.checks += 1

    def note_cluster(self, use: ClusterUse) -> None:
        self.noted = use


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_JOIN_S", "_POLL_S", "_MAX_NO_NODE_S"):
        monkeypatch.setattr(cluster, name, 0.0)


MOST = 3
"""Of a lease, for each of a node's two workers."""


def feed(count: int, taken: list[int]) -> Feed[str, int]:
    def source() -> Iterator[tuple[str, int]]:
        for number in range(count):
            taken.append(number)
            yield str(number), number

    return Feed(source(), lambda _: 1, MOST)


def worked(ray: FakeRay, count: int, sink: Sink, made: type = Worker, **said: Any) -> list[tuple[str, int]]:
    use, taken, found = ClusterUse(address="ray"), list[int](), list[tuple[str, int]]()
    refusal = said.get("refusal", lambda _: "")
    with Nodes(ray, lambda on_node, _: on_node(made).remote(), refusal, use, sink) as nodes:
        for some in nodes.work(feed(count, taken), lambda: None):
            found += some
            # No more is taken than nodes have in hand, and what is known ahead: the writer sets the pace.
            held = sum(len(node.held) for node in nodes._nodes.values())
            assert len(taken) - len(found) <= held + 100 * MOST
    return found


@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 4), deaths=st.integers(0, 12), count=st.integers(0, 90))
@settings(max_examples=150, deadline=None)
def test_every_lease_returns_once(seed: int, nodes: int, deaths: int, count: int) -> None:
    sink = Sink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_MAX_NODE_DEATHS", 100)
        found = worked(FakeRay(seed, nodes, deaths), count, sink)
    assert Counter(found) == Counter((str(number), -number) for number in range(count))
    assert sink.noted is not None or not count
    if sink.noted is not None:
        assert sum(node.judged for node in sink.noted.nodes) == count
        assert sum(node.deaths for node in sink.noted.nodes) <= deaths


@pytest.mark.soak
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 4), deaths=st.integers(0, 12), room=st.integers(1, 30))
@settings(max_examples=150, deadline=None)
def test_a_full_buffer_takes_nothing_and_loses_nothing(seed: int, nodes: int, deaths: int, room: int) -> None:
    """Room is counted from the first unfinished lease, because files are written in order."""
    taken, found, use = list[int](), dict[str, int](), ClusterUse(address="ray")

    def source() -> Iterator[tuple[str, int]]:
        for number in range(90):
            taken.append(number)
            assert number < first() + room
            yield str(number), number

    def first() -> int:
        return next(number for number in range(91) if str(number) not in found)

    paced = PacedIterator(source(), lambda: len(taken) < first() + room)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_MAX_NODE_DEATHS", 100)
        ray = FakeRay(seed, nodes, deaths)
        with Nodes(ray, lambda on_node, _: on_node(Worker).remote(), lambda _: "", use, Sink()) as executor:
            for some in executor.work(Feed(paced, lambda _: 1, MOST), lambda: None):
                assert not found.keys() & dict(some).keys()
                found.update(some)
    assert found == {str(number): -number for number in range(90)}


def test_the_last_leases_are_shared_among_all_nodes() -> None:
    few = feed(20, [])
    assert [len(few.take(64, 2)) for _ in range(4)] == [3, 3, 2, 2]
    many = feed(10_000, [])
    assert len(many.take(2, 2)) == 2 * MOST
    long = Feed(((number, number) for number in range(100)), lambda _: cluster._MAX_LEASE_CHARACTERS, MOST)
    assert len(long.take(64, 1)) == 1


class DeadlyRay(FakeRay):
    """Kills every actor that gets work."""

    def get(self, call: RemoteCall) -> Any:
        if call.name == "work":
            call.actor.dead = True
            raise RayError
        return call.work()


def test_work_that_kills_every_node_pauses_the_run() -> None:
    with pytest.raises(Halt, match=r"8 nodes have died over the same work"):
        worked(DeadlyRay(1, 3, 0), 1, Sink())


class PoisonRay(FakeRay):
    """Kills every actor that gets one particular number, and some others at random."""

    def get(self, call: RemoteCall) -> Any:
        if call.name == "work" and 13 in dict(call.args[0]).values():
            call.actor.dead = True
        return super().get(call)


@pytest.mark.parametrize("nodes", [1, 2, 5])
def test_work_that_kills_nodes_is_isolated(nodes: int) -> None:
    source, done = feed(500, []), list[tuple[str, int]]()

    def work() -> None:
        use = ClusterUse(address="ray")
        made = PoisonRay(3, nodes, 0)
        with Nodes(made, lambda on_node, _: on_node(Prompt).remote(), lambda _: "", use, Sink()) as them:
            for some in them.work(source, lambda: None):
                done.extend(some)

    with pytest.raises(Halt, match="8 nodes have died"):
        work()
    assert "13" not in dict(done)
    # Everything leased together with it at first is done, or is leased again before untried work.
    assert all(piece.tries < 8 for piece in source._ahead)


class LeavingRay(FakeRay):
    """Kills half of the nodes after they did some work."""

    def get(self, call: RemoteCall) -> Any:
        if call.name == "work":
            call.actor.dead |= call.actor.worked and self._random.random() < 0.5
            call.actor.worked = True
        return super().get(call)


@pytest.mark.parametrize("seed", range(5))
def test_nodes_that_die_after_some_work_blame_no_work(seed: int) -> None:
    """However often it happens: a cluster may lose node after node."""
    sink = Sink()
    assert len(worked(LeavingRay(seed, 2, 0), 600, sink, made=Prompt)) == 600
    assert sink.noted is not None
    assert sum(node.deaths for node in sink.noted.nodes) > 20


class Prompt(Worker):
    """Does all at once."""

    def work(self, pieces: list[tuple[int, int]]) -> NodeReply[int]:
        return NodeReply([(number, -payload) for number, payload in pieces])


def test_a_node_that_keeps_dying_gets_no_more_work() -> None:
    sink = Sink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_MAX_NODE_DEATHS", 3)
        with pytest.raises((RunError, Halt)):
            worked(DeadlyRay(1, 1, 0), 40, sink)
    assert sink.noted is not None
    assert sink.noted.nodes[0].deaths <= 3


def test_rejected_nodes_are_named() -> None:
    sink = Sink()
    with pytest.raises(RunError, match="No node can be used: h/node0: too old; h/node1: too old"):
        worked(FakeRay(1, 2, 0), 3, sink, refusal=lambda _: "too old")
    assert sink.noted is not None
    assert {node.refused for node in sink.noted.nodes} == {"too old"}


def test_unusable_nodes_are_named() -> None:
    with pytest.raises(RunError, match="no room for workers"):
        worked(FakeRay(1, 2, 0), 3, Sink(), made=Broken)


def test_a_cluster_without_nodes_is_abandoned_after_a_wait() -> None:
    with pytest.raises(Halt, match="No node of the cluster is left"):
        worked(FakeRay(1, 0, 0), 3, Sink())


def test_the_end_of_the_work_ends_the_actors() -> None:
    ray, sink, use = FakeRay(1, 3, 0), Sink(), ClusterUse(address="ray")

    def work_until_paused() -> None:
        with Nodes(ray, lambda on_node, _: on_node(Worker).remote(), lambda _: "", use, sink) as nodes:
            for _ in nodes.work(feed(40, []), lambda: None):
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work_until_paused()
    assert ray.killed == 3
    assert sink.noted is use


# -- What works on a node.


def test_a_node_identifies_itself_and_judges_like_a_local_worker() -> None:
    from workbench.core.verdict import VerifierInput
    from workbench.verifiers.base import identity

    node, verifier = ReadingNode("rules", {}, 1), Registry().load("rules", {})
    assert node.about() == NodeAbout(version=verifier.version, identity=identity(verifier))
    items = [VerifierInput(item=n, question="", reference="2", completion=str(n)) for n in range(4)]
    found = node.work([(10 + item.item, item) for item in items])
    assert found.back == []
    assert [(number, verdict.outcome.word) for number, verdict in found.done] == [
        (10, "incorrect"),
        (11, "incorrect"),
        (12, "correct"),
        (13, "incorrect"),
    ]
    node._executor.close()


def test_a_node_with_a_weaker_sandbox_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "best_level", lambda *, allow_unsafe: "L2")
    about = SandboxNode("L3", 1, DEFAULTS).about()
    assert about.trouble.startswith("Isolation L3 is not available on this machine; L2 is.")
    assert about.provenance is None


PASSED = Execution(outcomes="p", level="L3")


class HeldPool:
    """Two sandboxes in which programs end at the next turn unless they hang; a turn takes a second of its clock."""

    def __init__(self, *_: object, settings: object) -> None:
        self.seconds = 0.0
        self.hangs = True
        self._keys: dict[int, int] = {}

    @property
    def is_busy(self) -> bool:
        return bool(self._keys)

    def turn(self, jobs: Iterator[tuple[int, Program]]) -> list[tuple[int, Execution]]:
        self.seconds += 1.0
        keys = self._keys
        ended = [slot for slot, number in keys.items() if not self.hangs or number % 10]
        found = [(keys.pop(slot), PASSED) for slot in ended]
        for slot in {0, 1} - keys.keys():
            if (job := next(jobs, None)) is not None:
                keys[slot] = job[0]
        return found


def test_a_sandbox_finishes_running_programs_and_returns_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Programs 0, 10 … hang; they delay no result and no other node."""
    monkeypatch.setattr(cluster_pool, "SandboxPool", HeldPool)
    monkeypatch.setattr(cluster_pool, "level_of", lambda *_, **__: "L3")
    node = SandboxNode("L3", 2, DEFAULTS)
    pool: Any = node._pool
    monkeypatch.setattr(cluster_pool, "time", SimpleNamespace(monotonic=lambda: pool.seconds))
    monkeypatch.setattr(cluster_pool, "LEASE_S", 20.0)
    program = Program(source="", tests=())
    first = node.work([(number, program) for number in range(9)])
    assert first == NodeReply([(number, PASSED) for number in range(1, 8)])
    assert pool.seconds < 20.0
    # A second program hangs: later ones get no sandbox and are returned when their time is over.
    second = node.work([(number, program) for number in (11, 20, 21, 22)])
    assert second == NodeReply([(8, PASSED), (11, PASSED)], [21, 22])
    # With nothing given it waits, for as long as a lease; then for what is under way alone.
    assert node.work([]) == NodeReply([])
    pool.hangs = False
    assert node.work([]) == NodeReply([(0, PASSED), (20, PASSED)])
    assert node.work([]) == NodeReply([])
