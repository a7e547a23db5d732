"""Nodes of a Ray cluster as one executor: work is assigned in leases, and only this process stores results.

Each node has one actor with its own workers. If a node dies, its leases are assigned to other nodes; its earlier
results are stored. New nodes are used as they join. Only this module imports Ray.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self, TypeVar

from msgspec import Struct

from workbench.core.code import Provenance
from workbench.core.errors import RunError, UsageError, opt
from workbench.core.run import ClusterUse, NodeUse
from workbench.core.verdict import Verdict, VerifierInput
from workbench.llm.records import Halt
from workbench.runs.executor import LocalExecutor
from workbench.runs.local import PacedIterator, ResultSink, always
from workbench.verifiers.base import AnyVerifier, identity
from workbench.verifiers.registry import Registry

if TYPE_CHECKING:
    from types import TracebackType

ITEMS_PER_WORKER: Final = 300
"""Maximum number of items in a lease, for each worker of the node."""
_MAX_NODE_DEATHS: Final = 8
"""Maximum number of nodes that may die while they work on one piece; each time it is retried in a smaller lease."""
_POLL_S: Final = 0.1
_JOIN_S: Final = 2.0
_MAX_NO_NODE_S: Final = 30.0
"""Seconds that a cluster may be without a usable node."""
_ANSWER_S: Final = 5.0
_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
_log: Final = logging.getLogger(__name__)
_NOTE_S: Final = 1.0

_MAX_LEASE_PIECES: Final = 3000
"""Maximum pieces of a lease."""
_LAST_LEASES_PER_WORKER: Final = 8
"""Leases known ahead for each worker; with fewer left, the remaining work is divided into smaller leases."""
_MAX_LEASE_CHARACTERS: Final = 4_000_000
"""A lease with this many characters gets no more pieces."""
LEASES_PER_NODE: Final = 2
"""Number of leases that a node holds at a time: it has the next one when it finishes the first."""


Result = TypeVar("Result")
Payload = TypeVar("Payload")
Key = TypeVar("Key")


class NodeAbout(Struct, frozen=True, kw_only=True):
    """A node's description of itself, before it gets work.

    Attributes:
        version: The version of its verifier or sandbox.
        identity: A hash of its verifier's kind and configuration.
        trouble: Why the node can't work; "" if it can.
        provenance: What the results of programs at this node depend on; None if it runs no programs.
    """

    version: str
    identity: str = ""
    trouble: str = ""
    provenance: Provenance | None = None


class NodeReply(Struct, Generic[Result]):
    """A node's results so far.

    Attributes:
        done: Pairs of a piece's number and its result, including those of earlier leases.
        back: Numbers of the pieces that were not begun within the lease, returned for other nodes.
    """

    done: list[tuple[int, Result]]
    back: list[int] = []


class WorkPiece(Struct, Generic[Key, Payload]):
    """A piece of work.

    Attributes:
        key: The identity of the piece.
        tries: Number of nodes that died while they worked on it, before they had finished any work.
    """

    key: Key
    payload: Payload
    tries: int = 0


class Feed(Generic[Key, Payload]):
    """Work in leases, taken from its source as nodes become free.

    The last leases get smaller and smaller, so that no node stays busy for long while others have no work.

    Args:
        source: Pairs of a key and a piece of work.
        characters: Returns the length of a piece of work in characters.
        most: Maximum number of pieces in a lease, for each worker of the node.
    """

    def __init__(self, source: Iterable[tuple[Key, Payload]], characters: Callable[[Payload], int], most: int) -> None:
        self._source, self._characters, self._most = iter(source), characters, most
        self._ahead = deque[WorkPiece[Key, Payload]]()
        self._read_ahead()

    @property
    def ended(self) -> bool:
        return not self._ahead

    def give_back(self, pieces: Sequence[WorkPiece[Key, Payload]]) -> None:
        self._ahead.extendleft(reversed(pieces))

    def drop(self, is_gone: Callable[[Key], bool]) -> None:
        self._ahead = deque(piece for piece in self._ahead if not is_gone(piece.key))

    def take(self, workers: int, nodes: int) -> list[WorkPiece[Key, Payload]]:
        """Return the next lease for a node with ``workers`` workers, one of ``nodes``; empty if no work is left."""
        size = min(self._most * workers, _MAX_LEASE_PIECES)
        if len(self._ahead) < _LAST_LEASES_PER_WORKER * self._most:
            size = min(size, -(-len(self._ahead) // (2 * LEASES_PER_NODE * nodes)))
        lease, characters = list[WorkPiece[Key, Payload]](), 0
        while self._ahead and len(lease) < max(size >> self._ahead[0].tries, 1) and characters < _MAX_LEASE_CHARACTERS:
            lease.append(piece := self._ahead.popleft())
            characters += self._characters(piece.payload)
        self._read_ahead()
        return lease

    def _read_ahead(self) -> None:
        short = _LAST_LEASES_PER_WORKER * self._most - len(self._ahead)
        self._ahead.extend(WorkPiece(key, payload) for key, payload in islice(self._source, max(short, 0)))


def require_cluster(address: str, workers: int | None) -> None:
    """Check that an address may be that of a cluster, and that no conflicting option was given.

    Args:
        workers: The requested number of workers; None if it wasn't given.

    Raises:
        UsageError: The address is invalid, Ray is not installed, or workers were requested.
    """
    if address != "ray" and not address.startswith("ray://"):
        raise UsageError(f"{address!r} is not the address of a cluster.", "Write ray, or ray://HOST:PORT.")
    if workers is not None:
        raise UsageError("On a cluster, each node has one worker per core.", f"Leave {opt.workers} out.")
    if find_spec("ray") is None:
        raise UsageError("Ray is not installed.", "Install it: pip install 'verifier-workbench[ray]'")


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect Ray to a running cluster; don't start one.

    Raises:
        RunError: No cluster runs at the address.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    import ray
    import ray._private.worker as own
    import ray.util.scheduling_strategies

    # Ray replaces the runner's signal handler by its own.
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    try:
        where = "auto" if address == "ray" else address
        _require_listener(where)
        ray.init(address=where, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=None)
    except Exception as error:
        raise RunError(
            f"No cluster of Ray answers at {address}: {error}".rstrip(".") + ".",
            "Start one: ray start --head --include-dashboard=false --disable-usage-stats",
        ) from error
    finally:
        # From another thread, the main thread has to restore the handlers: see `restore_signal_handlers`.
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)
    # Ray's thread prints events of nodes to standard output, among a command's own lines.
    said, own.print_to_stdstream = own.print_to_stdstream, _log_lines
    try:
        yield ray
    finally:
        ray.shutdown()
        own.print_to_stdstream = said


def own_signals() -> None:
    """Restore this process's signal handlers; to be called by the main thread after another thread has connected.

    Ray's own handler, which the kernel calls before Python's, ends the process three seconds after SIGTERM.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.getsignal(number))


def _log_lines(data: Mapping[str, Any], ignore_prefix: bool) -> None:
    _log.info("%s", data["lines"])


def _require_listener(address: str) -> None:
    """Check that a server listens at an address: Ray itself would wait for minutes.

    Raises:
        OSError: No server listens at the address.
    """
    from ray._private.services import canonicalize_bootstrap_address

    place = address if address.startswith("ray://") else canonicalize_bootstrap_address(address)
    host, _, port = (place or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=_ANSWER_S).close()


class _ClusterNode:
    """A node of the cluster with its actor.

    Attributes:
        use: Counts and times of the node's work so far.
        ready: Whether the node has described itself, and may get work.
        served: Whether the node has returned a result.
        calls: Calls in flight.
        held: Unfinished pieces of work at the node, by number.
    """

    def __init__(self, id: str, actor: Any, use: NodeUse) -> None:
        self.id, self.actor, self.use = id, actor, use
        self.ready = self.served = False
        self.calls = 0
        self.held: dict[int, WorkPiece[Any, Any]] = {}
        self.began = time.monotonic()


class Nodes:
    """The nodes of a cluster that work on one run.

    Args:
        ray: The Ray library, connected.
        made: Creates a node's actor, given a function that pins it to the node, and the node's number of processors.
        refusal: Returns why a node is rejected, given its description; "" if it is accepted.
        use: Counts of the nodes' work, also in earlier starts of the run; updated in place.
        look_s: Seconds to wait for results before cancellation and new nodes are checked again.
    """

    def __init__(
        self,
        ray: Any,
        made: Callable[[Any, int], Any],
        refusal: Callable[[NodeAbout], str],
        use: ClusterUse,
        sink: ResultSink,
        look_s: float | None = None,
    ) -> None:
        self._look_s = look_s
        self._feed: Feed[Any, Any] | None = None
        self._ray, self._made, self._refusal, self._use, self._sink = ray, made, refusal, use, sink
        self._nodes: dict[str, _ClusterNode] = {}
        self._refused: dict[str, str] = {}
        self._deaths: dict[str, int] = {}
        self._asked: dict[Any, _ClusterNode] = {}
        self._numbers = itertools.count()
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
            self._report_use(at_once=True)
        else:
            # The error that ended the work is more informative than a failure to store.
            with suppress(Exception):
                self._report_use(at_once=True)

    def wait_for_first_node(self) -> NodeAbout:
        while True:
            for found in self._poll_nodes():
                if isinstance(found, NodeAbout):
                    return found

    def drop(self, is_gone: Callable[[Any], bool]) -> None:
        """Cancel work that is no longer needed, queued or assigned.

        Args:
            is_gone: Whether the work with this key is no longer needed.
        """
        if self._feed is not None:
            self._feed.drop(is_gone)
        for node in self._nodes.values():
            if gone := [number for number, piece in node.held.items() if is_gone(piece.key)]:
                for number in gone:
                    del node.held[number]
                node.actor.drop.remote(gone)

    def attend(self) -> None:
        """Add new nodes, and remove lost ones, while there is no work.

        Raises:
            Halt: No node is left.
        """
        self._poll_nodes()

    def work(
        self, feed: Feed[Key, Payload], raise_if_cancelled: Callable[[], None]
    ) -> Generator[list[tuple[Key, Any]], None, None]:
        """Execute all work: yield keys and results in lists, in the order of completion.

        Raises:
            Halt: No node is left, or several nodes have died while they worked on the same piece; earlier results are
                stored.
        """
        self._feed = feed
        try:
            while self._assign_work(feed):
                for found in self._poll_nodes():
                    if isinstance(found, _LostWork):
                        if found.blamed:
                            self._count_node_deaths(found.pieces)
                        feed.give_back(found.pieces)
                    elif isinstance(found, _NodeResults):
                        feed.give_back(found.back)
                        if found.done:
                            yield found.done
                raise_if_cancelled()
        finally:
            # A caller that left no longer needs its results.
            for node in self._nodes.values():
                node.held.clear()

    def _assign_work(self, feed: Feed[Any, Any]) -> bool:
        for node in [node for node in self._nodes.values() if node.ready]:
            while node.calls < LEASES_PER_NODE and (lease := feed.take(node.use.workers, len(self._nodes))):
                self._send_lease(node, lease)
            if node.held and not node.calls:
                self._send_lease(node, [])
        return not feed.ended or any(node.held for node in self._nodes.values())

    def _count_node_deaths(self, pieces: Iterable[WorkPiece[Any, Any]]) -> None:
        for piece in pieces:
            piece.tries += 1
            if piece.tries >= _MAX_NODE_DEATHS:
                raise Halt("cancelled", f"{piece.tries} nodes have died over the same work.")

    def _send_lease(self, node: _ClusterNode, lease: list[WorkPiece[Any, Any]]) -> None:
        if not node.calls:
            node.began = time.monotonic()
        node.calls += 1
        numbered = {next(self._numbers): piece for piece in lease}
        node.held |= numbered
        sent = [(number, piece.payload) for number, piece in numbered.items()]
        self._asked[node.actor.work.remote(sent)] = node

    def _poll_nodes(self) -> list[NodeAbout | _NodeResults | _LostWork]:
        self._sink.check()
        self._add_new_nodes()
        self._report_use()
        look_s = _POLL_S if self._look_s is None else self._look_s
        if not self._asked:
            time.sleep(look_s)
            return []
        done, _ = self._ray.wait(list(self._asked), num_returns=1, timeout=look_s)
        return [found for ref in done if ref in self._asked and (found := self._receive(ref)) is not None]

    def _receive(self, ref: Any) -> NodeAbout | _NodeResults | _LostWork | None:
        node = self._asked.pop(ref)
        try:
            reply = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            self._reject_node(node, str(error.cause))
            lost = self._remove_dead_node(node)
            with suppress(Exception):
                self._ray.kill(node.actor)
            return lost
        except self._ray.exceptions.RayError:
            return self._remove_dead_node(node)
        return self._admit_node(node, reply) if isinstance(reply, NodeAbout) else self._accept_reply(node, reply)

    def _accept_reply(self, node: _ClusterNode, reply: NodeReply[Any]) -> _NodeResults:
        now = time.monotonic()
        node.calls -= 1
        node.served |= bool(reply.done)
        node.use.judged += len(reply.done)
        node.use.seconds += now - node.began
        node.began = now
        held = node.held
        return _NodeResults(
            [(held.pop(number).key, result) for number, result in reply.done if number in held],
            [held.pop(number) for number in reply.back if number in held],
        )

    def _remove_dead_node(self, node: _ClusterNode) -> _LostWork:
        self._asked = {ref: other for ref, other in self._asked.items() if other is not node}
        self._nodes.pop(node.id, None)
        node.use.lost += len(node.held)
        node.use.deaths += 1
        self._deaths[node.id] = 1 if node.served else self._deaths.get(node.id, 0) + 1
        if self._deaths[node.id] >= _MAX_NODE_DEATHS:
            self._reject_node(node, f"what works there has died {_MAX_NODE_DEATHS} times in a row")
        self._joined = 0.0
        return _LostWork(list(node.held.values()), not node.served)

    def _admit_node(self, node: _ClusterNode, about: NodeAbout) -> NodeAbout | None:
        if why := about.trouble or self._refusal(about):
            self._nodes.pop(node.id)
            self._reject_node(node, why)
            self._ray.kill(node.actor)
            return None
        node.ready, node.use.refused = True, ""
        return about

    def _reject_node(self, node: _ClusterNode, why: str) -> None:
        node.use.refused = why
        self._refused[node.id] = f"{node.use.name}: {why}"

    def _add_new_nodes(self) -> None:
        now = time.monotonic()
        if now - self._joined < _JOIN_S:
            return
        self._joined = now
        able = _usable_nodes(self._ray)
        for id, (name, processors) in able.items():
            if id not in self._nodes and id not in self._refused:
                use = next((one for one in self._use.nodes if one.name == name), None)
                if use is None:
                    use = NodeUse(name=name, workers=processors)
                    self._use.nodes.append(use)
                node = _ClusterNode(id, self._made(_pin_to_node(self._ray, id), processors), use)
                self._nodes[id] = node
                self._asked[node.actor.about.remote()] = node
        if self._nodes:
            self._alone = now
        elif self._refused and able.keys() <= self._refused.keys():
            raise RunError("No node can be used: " + "; ".join(self._refused.values()), "Check these nodes.")
        elif now - self._alone > _MAX_NO_NODE_S:
            raise Halt("cancelled", "No node of the cluster is left. Go on when there is one.")

    def _report_use(self, *, at_once: bool = False) -> None:
        if at_once or time.monotonic() - self._noted > _NOTE_S:
            self._noted = time.monotonic()
            self._sink.note_cluster(self._use)


def _usable_nodes(ray: Any) -> dict[str, tuple[str, int]]:
    return {
        one["NodeID"]: (f"{one['NodeManagerHostname']}/{one['NodeID'][:8]}", int(one["Resources"]["CPU"]))
        for one in ray.nodes()
        if one["Alive"] and one["Resources"].get("CPU", 0) >= 1
    }


def _pin_to_node(ray: Any, id: str) -> Callable[[Any], Any]:
    stays = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(id, soft=False)
    return lambda made: ray.remote(num_cpus=0, scheduling_strategy=stays)(made)


class _NodeResults(NamedTuple):
    done: list[tuple[Any, Any]]
    back: list[WorkPiece[Any, Any]]


class _LostWork(NamedTuple):
    """Unfinished work of a node that died; ``blamed`` if it may be the cause: the node had finished nothing before."""

    pieces: list[WorkPiece[Any, Any]]
    blamed: bool


def _refusal(verifier: AnyVerifier, about: NodeAbout) -> str:
    if about.version != verifier.version:
        return f"it has {verifier.name} {about.version}, and the run is of {verifier.version}"
    return "" if about.identity == identity(verifier) else f"it reads the options of {verifier.name} in another way"


# -- Verifiers that need only texts.


class ReadingNode:
    """The actor of a verifier that needs only texts.

    Args:
        workers: Number of worker processes.
    """

    def __init__(self, kind: str, options: dict[str, str], workers: int) -> None:
        self._verifier = Registry().local(kind, options)
        self._executor = LocalExecutor(self._verifier, (kind, options), workers)

    def about(self) -> NodeAbout:
        return NodeAbout(version=self._verifier.version, identity=identity(self._verifier))

    def work(self, items: Sequence[tuple[int, VerifierInput]]) -> NodeReply[Verdict]:
        verdicts = self._executor.judge([item for _, item in items])
        return NodeReply([(number, verdict) for (number, _), verdict in zip(items, verdicts, strict=True)])


def judge_on_cluster(
    verifier: AnyVerifier,
    spec: tuple[str, dict[str, str]],
    use: ClusterUse,
    chunks: Iterable[list[VerifierInput]],
    sink: ResultSink,
    *,
    has_room: Callable[[], bool] = always,
) -> None:
    """Judge as `runs.local.judge_locally` does, on the nodes of a cluster.

    Args:
        has_room: Whether more items may be started while others are in progress.

    Raises:
        RunError: No cluster runs at the address, or it has no usable node.
        Halt: The cluster's nodes have died.
    """

    def made(on_node: Callable[[Any], Any], processors: int) -> Any:
        return on_node(ReadingNode).remote(*spec, processors)

    with connected(use.address) as ray, Nodes(ray, made, lambda about: _refusal(verifier, about), use, sink) as nodes:
        items = ((item.item, item) for chunk in chunks for item in chunk)
        paced = PacedIterator(items, has_room)
        for found in nodes.work(Feed(paced, lambda item: item.characters, ITEMS_PER_WORKER), sink.check):
            sink.store(found)
