"""Nodes of a Ray cluster as one executor: work goes out in leases, and this process alone stores what comes back.

Each node has one actor, which holds that node's own workers. A node that dies loses its leases, and others are asked
for them again; what it had answered is stored. Nodes that come are taken in. Nothing of Ray's is imported but here.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, Self, TypeVar

from msgspec import Struct, structs

from workbench.core.code import Execution, Level, Program, Provenance
from workbench.core.errors import RunError, UsageError
from workbench.core.run import ClusterUse, NodeUse
from workbench.core.verdict import VerifierInput
from workbench.llm.records import Halt
from workbench.runs.local import VerdictSink
from workbench.runs.nodes import NodeAbout, ReadingNode, SandboxNode
from workbench.verifiers.base import AnyVerifier, SandboxedVerifier, identity

if TYPE_CHECKING:
    from types import TracebackType

ITEMS: Final = 300
"""Items of a lease at most."""
PROGRAMS: Final = 100
"""Programs of a lease."""
_CHARACTERS: Final = 4_000_000
"""Characters from which on a lease has no more items."""
_AHEAD: Final = 2
"""Leases of a node at a time: it has the next one when it has done with the first."""
_TRIES: Final = 5
"""Nodes that may die over a lease."""
_LOOK_S: Final = 0.1
_JOIN_S: Final = 2.0
_ALONE_S: Final = 30.0
"""So long a cluster may be without a node that can work."""
_ANSWER_S: Final = 5.0
_NOTE_S: Final = 1.0

Payload = TypeVar("Payload")
Key = TypeVar("Key")


class ClusterSink(Protocol):
    """What the work on a cluster needs of the runner besides storing."""

    def check(self) -> None:
        """Show life, and raise whatever ends the work early."""
        ...

    def note_cluster(self, use: ClusterUse) -> None:
        """Keep what the nodes have done."""
        ...


def require_cluster(address: str) -> None:
    """See to it that a cluster can be meant by an address.

    Raises:
        UsageError: It is none, or Ray is not installed.
    """
    if address != "ray" and not address.startswith("ray://"):
        raise UsageError(f"{address!r} is nowhere to judge.", "Write ray, or ray://HOST:PORT.")
    if find_spec("ray") is None:
        raise UsageError("Ray is not installed.", "Install it: pip install 'verifier-workbench[ray]'")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster that is there; none is started.

    Raises:
        RunError: There is none.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    import ray.util.scheduling_strategies

    # It puts a handler of its own in the place of the runner's.
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        where = "auto" if address == "ray" else address
        _require_listener(where)
        ray.init(address=where, log_to_driver=False, logging_level="ERROR", include_dashboard=None)
    except Exception as error:
        raise RunError(
            f"No cluster of Ray answers at {address}: {error}".rstrip(".") + ".",
            "Start one: ray start --head --include-dashboard=false --disable-usage-stats",
        ) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    try:
        yield ray
    finally:
        ray.shutdown()


def _require_listener(address: str) -> None:
    """See to it that somebody listens at an address: Ray itself would wait for minutes.

    Raises:
        OSError: Nobody does.
    """
    from ray._private.services import canonicalize_bootstrap_address

    place = address if address.startswith("ray://") else canonicalize_bootstrap_address(address)
    host, _, port = (place or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()


class _Lease(Struct, Generic[Payload]):
    """Work that was given away.

    Attributes:
        tries: Nodes that died over it.
    """

    payload: Payload
    size: int
    tries: int = 0


class _Node:
    """A node with its actor.

    Attributes:
        use: What it has done.
        ready: Whether it has said what it is, and may be given work.
        served: Whether a lease has come back.
    """

    def __init__(self, id: str, actor: Any, use: NodeUse) -> None:
        self.id, self.actor, self.use = id, actor, use
        self.ready = self.served = False
        self.busy = 0
        self.began = time.monotonic()


class Nodes:
    """The nodes of a cluster at work on one run.

    Args:
        ray: The library, connected.
        made: Makes what works on a node, of how many processors it has.
        refusal: Why a node may not work, of what it says of itself; "" where it may.
        use: What nodes did in earlier starts of the run; it is kept up to date.
    """

    def __init__(
        self,
        ray: Any,
        made: Callable[[Any, int], Any],
        refusal: Callable[[NodeAbout], str],
        use: ClusterUse,
        sink: ClusterSink,
    ) -> None:
        self._ray, self._made, self._refusal, self._use, self._sink = ray, made, refusal, use, sink
        self._nodes: dict[str, _Node] = {}
        self._refused: dict[str, str] = {}
        self._deaths: dict[str, int] = {}
        self._asked: dict[Any, tuple[_Node, _Lease[Any] | None]] = {}
        self._joined = self._noted = 0.0
        self._alone = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for node in self._nodes.values():
            with suppress(Exception):
                self._ray.kill(node.actor)
        if kind is None:
            self._note(at_once=True)
        else:
            # What ended the work says more than what can't be stored any more.
            with suppress(Exception):
                self._note(at_once=True)

    def first(self) -> NodeAbout:
        """What the first node that may work says of itself; waits for it."""
        while True:
            for reply, _ in self._turn():
                if isinstance(reply, NodeAbout):
                    return reply

    def work(
        self, leases: Iterable[tuple[Payload, int]], heed: Callable[[], None]
    ) -> Generator[tuple[Payload, Any], None, None]:
        """Have all work done: each payload, of so many items, with what came of it, in the order they end.

        Raises:
            Halt: No node is left, or several have died over the same lease; what was done is stored.
        """
        source, again, ended = iter(leases), deque[_Lease[Payload]](), False
        while True:
            for node in [node for node in self._nodes.values() if node.ready]:
                while node.busy < _AHEAD and not (ended and not again):
                    lease = again.popleft() if again else None
                    if lease is None:
                        if (taken := next(source, None)) is None:
                            ended = True
                            break
                        lease = _Lease(*taken)
                    self._give(node, lease)
            if ended and not again and not any(lease for _, lease in self._asked.values()):
                return
            for reply, lease in self._turn():
                if lease is None:
                    continue
                if isinstance(reply, _Lost):
                    self._require_patience(lease)
                    again.append(lease)
                else:
                    yield lease.payload, reply
            heed()

    def _require_patience(self, lease: _Lease[Any]) -> None:
        lease.tries += 1
        if lease.tries >= _TRIES:
            raise Halt("cancelled", f"{lease.tries} nodes have died over the same {lease.size} items.")

    def _give(self, node: _Node, lease: _Lease[Any]) -> None:
        if not node.busy:
            node.began = time.monotonic()
        node.busy += 1
        self._asked[node.actor.work.remote(lease.payload)] = (node, lease)

    def _turn(self) -> list[tuple[Any, _Lease[Any] | None]]:
        """What has come back meanwhile: each reply with its lease, or `_Lost`; and what nodes say of themselves."""
        self._sink.check()
        self._join()
        self._note()
        found: list[tuple[Any, _Lease[Any] | None]] = []
        if not self._asked:
            time.sleep(_LOOK_S)
            return found
        done, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=_LOOK_S)
        for ref in done:
            if ref not in self._asked:
                continue
            node, lease = self._asked.pop(ref)
            try:
                reply = self._ray.get(ref)
            except self._ray.exceptions.RayTaskError as error:
                found += self._failed(node, lease, error)
                continue
            except self._ray.exceptions.RayError:
                found += self._lost(node, lease)
                continue
            if lease is None:
                found += self._introduced(node, reply)
            else:
                self._back(node, lease)
                found.append((reply, lease))
        return found

    def _back(self, node: _Node, lease: _Lease[Any]) -> None:
        now = time.monotonic()
        node.busy -= 1
        node.served = True
        node.use.judged += lease.size
        node.use.seconds += now - node.began
        node.began = now

    def _failed(self, node: _Node, lease: _Lease[Any] | None, error: Any) -> list[tuple[Any, _Lease[Any] | None]]:
        """What works on a node says that it can't; others are asked in its place."""
        self._refuse(node, str(error.cause))
        lost = self._lost(node, lease)
        with suppress(Exception):
            self._ray.kill(node.actor)
        return lost

    def _lost(self, node: _Node, lease: _Lease[Any] | None) -> list[tuple[Any, _Lease[Any] | None]]:
        """A node or its actor has died: what it had is to be asked again."""
        refs = [ref for ref, (other, _) in self._asked.items() if other is node]
        leases = [lease, *(self._asked.pop(ref)[1] for ref in refs)]
        self._nodes.pop(node.id, None)
        lost = [one for one in leases if one is not None]
        node.use.lost += len(lost)
        node.use.deaths += 1
        self._deaths[node.id] = 1 if node.served else self._deaths.get(node.id, 0) + 1
        if self._deaths[node.id] >= _TRIES:
            self._refuse(node, f"what works there has died {_TRIES} times in a row")
        self._joined = 0.0
        return [(_Lost(), one) for one in lost]

    def _introduced(self, node: _Node, about: NodeAbout) -> list[tuple[Any, None]]:
        if why := about.trouble or self._refusal(about):
            self._nodes.pop(node.id)
            self._refuse(node, why)
            self._ray.kill(node.actor)
            return []
        node.ready, node.use.refused = True, ""
        return [(about, None)]

    def _refuse(self, node: _Node, why: str) -> None:
        node.use.refused = why
        self._refused[node.id] = f"{node.use.name}: {why}"

    def _join(self) -> None:
        """Take in nodes that have come, or whose actor died."""
        now = time.monotonic()
        if now - self._joined < _JOIN_S:
            return
        self._joined = now
        # A head that does no work has no processors.
        able = {one["NodeID"]: one for one in self._ray.nodes() if one["Alive"] and one["Resources"].get("CPU", 0) >= 1}
        for id, about in able.items():
            if id not in self._nodes and id not in self._refused:
                self._begin(id, f"{about['NodeManagerHostname']}/{id[:8]}", int(about["Resources"]["CPU"]))
        if self._nodes:
            self._alone = now
        elif self._refused and able.keys() <= self._refused.keys():
            raise RunError("No node may work: " + "; ".join(self._refused.values()), "See to these nodes.")
        elif now - self._alone > _ALONE_S:
            raise Halt("cancelled", "No node of the cluster is left. Go on when there is one.")

    def _begin(self, id: str, name: str, processors: int) -> None:
        use = next((one for one in self._use.nodes if one.name == name), None)
        if use is None:
            use = NodeUse(name=name, workers=processors)
            self._use.nodes.append(use)
        stays = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(id, soft=False)
        there = {"num_cpus": 0, "scheduling_strategy": stays}
        node = _Node(id, self._made(lambda made: self._ray.remote(**there)(made), processors), use)
        self._nodes[id] = node
        self._asked[node.actor.about.remote()] = (node, None)

    def _note(self, *, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._noted > _NOTE_S:
            self._noted = time.monotonic()
            self._sink.note_cluster(self._use)


class _Lost:
    """Stands for the reply of a node that died."""


def _refusal(verifier: AnyVerifier, about: NodeAbout) -> str:
    if about.version != verifier.version:
        return f"it has {verifier.name} {about.version}, and the run is of {verifier.version}"
    return "" if about.identity == identity(verifier) else f"it reads the options of {verifier.name} in another way"


# -- Verifiers that need texts alone.


class ReadingSink(VerdictSink, ClusterSink, Protocol):
    """What judging texts on a cluster needs of the runner."""


def judge_on_cluster(
    verifier: AnyVerifier,
    spec: tuple[str, dict[str, str]],
    use: ClusterUse,
    chunks: Iterable[list[VerifierInput]],
    sink: ReadingSink,
) -> None:
    """Judge as `runs.local.judge_locally` does, on the nodes of a cluster.

    Raises:
        RunError: There is no such cluster, or no node of it may work.
        Halt: Its nodes have died.
    """

    def made(on_node: Callable[[Any], Any], processors: int) -> Any:
        return on_node(ReadingNode).remote(*spec, processors)

    with connected(use.address) as ray, Nodes(ray, made, lambda about: _refusal(verifier, about), use, sink) as nodes:
        for items, verdicts in nodes.work(_item_leases(chunks), sink.check):
            numbers = (item.item for item in items)
            sink.store(list(zip(numbers, verdicts, strict=True)))


def _item_leases(chunks: Iterable[list[VerifierInput]]) -> Iterator[tuple[list[VerifierInput], int]]:
    lease, characters = list[VerifierInput](), 0
    for item in (item for chunk in chunks for item in chunk):
        lease.append(item)
        characters += item.characters
        if len(lease) >= ITEMS or characters >= _CHARACTERS:
            yield lease, len(lease)
            lease, characters = [], 0
    if lease:
        yield lease, len(lease)


# -- Solutions.


class ClusterPool:
    """The sandboxes of all nodes, as one `SandboxPool`.

    Args:
        level: How solutions are kept in; a node where that doesn't hold is refused.
        seed: The hash seed they run under.
    """

    def __init__(
        self,
        ray: Any,
        verifier: SandboxedVerifier,
        spec: tuple[str, dict[str, str]],
        level: Level,
        seed: int,
        use: ClusterUse,
        sink: ClusterSink,
    ) -> None:
        def made(on_node: Callable[[Any], Any], processors: int) -> Any:
            return on_node(SandboxNode).remote(*spec, processors, level, seed)

        self._nodes = Nodes(ray, made, self._refusal, use, sink)
        self._verifier = verifier
        self._first: Provenance | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._nodes.__exit__(kind, error, trace)

    def provenance(self) -> Provenance:
        """What the outcomes depend on besides the texts: the same on every node that works."""
        if self._first is None:
            self._nodes.first()
        assert self._first is not None
        return self._first

    def run(
        self, jobs: Iterable[tuple[Key, Program]], heed: Callable[[], None]
    ) -> Generator[tuple[Key, Execution], None, None]:
        """See `SandboxPool.run`."""
        keys: dict[int, list[Key]] = {}
        for payload, found in self._nodes.work(_program_leases(jobs, keys), heed):
            yield from zip(keys.pop(id(payload)), found, strict=True)

    def _refusal(self, about: NodeAbout) -> str:
        why = _refusal(self._verifier, about)
        if not why and self._first is None:
            self._first = about.provenance
        if why or about.provenance == self._first:
            return why
        assert about.provenance is not None
        assert self._first is not None
        before, after = structs.asdict(self._first), structs.asdict(about.provenance)
        apart = ", ".join(
            f"{name} is {after[name]}, not {before[name]}" for name in after if before[name] != after[name]
        )
        return f"programs run under something else there: {apart}"


def pools_on(
    ray: Any,
    verifier: SandboxedVerifier,
    spec: tuple[str, dict[str, str]],
    level: Level,
    use: ClusterUse,
    sink: ClusterSink,
) -> Callable[[int], ClusterPool]:
    """What makes the pool of a hash seed, for `runs.executing.judge_by_execution`."""
    return lambda seed: ClusterPool(ray, verifier, spec, level, seed, use, sink)


def _program_leases(
    jobs: Iterable[tuple[Key, Program]], keys: dict[int, list[Key]]
) -> Iterator[tuple[Sequence[Program], int]]:
    """Programs in leases; their keys stay here."""
    source = iter(jobs)
    while some := list(islice(source, PROGRAMS)):
        programs = [program for _, program in some]
        keys[id(programs)] = [key for key, _ in some]
        yield programs, len(programs)
