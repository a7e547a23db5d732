"""The server's metrics in Prometheus text format."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import psutil

from workbench.core.run import NodeUse
from workbench.core.verdict import Verdict
from workbench.training.fair import StageTimes
from workbench.training.pay import SuiteVerdict
from workbench.training.serving import stage_of

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram's buckets, in seconds."""

_FORGEABLE = "Completions some of whose passed tests could be forged."
_IN_FLIGHT = "Bytes of received requests that are not answered yet."
_PATHS = ("fast", "slow")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Metrics:
    """The server's counters.

    Args:
        verifier: Its name and version, as labels.
    """

    def __init__(self, verifier: str, version: str) -> None:
        self._verifier = (verifier, version)
        self._requests: Counter[tuple[str, int]] = Counter()
        self._items: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._stacked: Counter[tuple[str, str]] = Counter()
        self._forgeable = 0
        self._buckets = {path: [0] * (len(_BOUNDS) + 1) for path in _PATHS}
        self._seconds = dict.fromkeys(_PATHS, 0.0)

    def requested(self, route: str, status: int) -> None:
        self._requests[route, status] += 1

    def judged(self, verdict: Verdict) -> None:
        """Count an item by its verdict; errors also by reason, and verdicts of a stack by stage."""
        word = verdict.outcome.word
        self._items[word] += 1
        if verdict.reason in ("timeout", "worker_died"):
            self._reasons[verdict.reason] += 1
        if (stage := stage_of(verdict)) is not None:
            self._stacked[stage, word] += 1
        if isinstance(verdict, SuiteVerdict) and verdict.forgeable:
            self._forgeable += 1

    def took(self, seconds: float, *, fast: bool) -> None:
        """Record the time of an answered request; ``fast`` if all its items were decided at once."""
        path = _PATHS[0] if fast else _PATHS[1]
        self._buckets[path][bisect_left(_BOUNDS, seconds)] += 1
        self._seconds[path] += seconds

    def text(
        self, *, waiting: int, in_flight: int, ready: bool, stages: StageTimes, nodes: Sequence[NodeUse] = ()
    ) -> str:
        """Return all metrics as text.

        Args:
            waiting: Items that wait for a worker or a process for long texts.
            in_flight: Bytes of unanswered requests.
            ready: Whether items are accepted.
            stages: Time spent in the stages of judging.
            nodes: Work of a cluster's nodes, if they judge.
        """
        name, version = map(_escape_label, self._verifier)
        requests = {f'route="{route}",status="{status}"': n for (route, status), n in sorted(self._requests.items())}
        stacked = {
            f'stage="{_escape_label(stage)}",verdict="{word}"': n for (stage, word), n in sorted(self._stacked.items())
        }
        stages_total = "Items judged by a stack, by the deciding stage and its verdict."
        lines = [
            *_series("info", "gauge", "The verifier.", {f'verifier="{name}",version="{version}"': 1}),
            *_series("ready", "gauge", "Whether the server accepts items.", {"": int(ready)}),
            *_series("waiting_items", "gauge", "Accepted items that wait for a verdict.", {"": waiting}),
            *_series("in_flight_bytes", "gauge", _IN_FLIGHT, {"": in_flight}),
            *_series("requests_total", "counter", "Requests by route and status.", requests),
            *_counter_lines("items_total", "Items judged, by verdict.", "verdict", self._items),
            *_counter_lines("exhausted_total", "Items that exceeded a limit, by reason.", "reason", self._reasons),
            *_series("stacked_total", "counter", stages_total, stacked),
            *_series("forgeable_total", "counter", _FORGEABLE, {"": self._forgeable}),
            *_metric_head("stage_seconds", "summary", "Seconds that items took in a stage: first, line, work."),
            *(
                line
                for stage, count in sorted(stages.count.items())
                for line in (
                    f'workbench_reward_stage_seconds_sum{{stage="{stage}"}} {stages.seconds[stage]:.6f}',
                    f'workbench_reward_stage_seconds_count{{stage="{stage}"}} {count}',
                )
            ),
            *_node_lines(nodes),
            *self._histogram(),
            "# HELP process_resident_memory_bytes Resident memory of the server's own process.",
            "# TYPE process_resident_memory_bytes gauge",
            f"process_resident_memory_bytes {psutil.Process().memory_info().rss}",
        ]
        return "\n".join(lines) + "\n"

    def _histogram(self) -> list[str]:
        lines = _metric_head("request_seconds", "histogram", "Seconds from a request's body to its answer.")
        for path, buckets in self._buckets.items():
            total = 0
            for bound, count in zip((*map(str, _BOUNDS), "+Inf"), buckets, strict=True):
                total += count
                lines.append(f'workbench_reward_request_seconds_bucket{{path="{path}",le="{bound}"}} {total}')
            lines.append(f'workbench_reward_request_seconds_sum{{path="{path}"}} {self._seconds[path]:.6f}')
            lines.append(f'workbench_reward_request_seconds_count{{path="{path}"}} {total}')
        return lines


def _escape_label(text: str) -> str:
    return text.encode(errors="replace").decode().translate(_ESCAPES)


def _node_lines(nodes: Sequence[NodeUse]) -> list[str]:
    lines = []
    for name, kind, about, value in _OF_A_NODE if nodes else ():
        lines += _series(
            f"node_{name}", kind, about, {f'node="{_escape_label(node.name)}"': value(node) for node in nodes}
        )
    return lines


_OF_A_NODE: Final[tuple[tuple[str, str, str, Callable[[NodeUse], str]], ...]] = (
    ("workers", "gauge", "Number of solutions that a node runs in parallel.", lambda node: f"{node.workers}"),
    ("refused", "gauge", "Whether a node is rejected.", lambda node: f"{int(bool(node.refused))}"),
    ("judged_total", "counter", "Number of solutions that a node has run.", lambda node: f"{node.judged}"),
    ("seconds_total", "counter", "Seconds that a node has worked.", lambda node: f"{node.seconds:.6f}"),
    ("lost_total", "counter", "Number of unfinished solutions on a node when it died.", lambda node: f"{node.lost}"),
    ("deaths_total", "counter", "Number of times that a node, or its worker, has died.", lambda node: f"{node.deaths}"),
)


def _metric_head(name: str, kind: str, about: str) -> list[str]:
    return [f"# HELP workbench_reward_{name} {about}", f"# TYPE workbench_reward_{name} {kind}"]


def _series(name: str, kind: str, about: str, values: Mapping[str, object]) -> list[str]:
    """Return a metric with its values by labels; "" for one without labels."""
    values = {f"{{{labels}}}" if labels else "": value for labels, value in values.items()}
    return _metric_head(name, kind, about) + [
        f"workbench_reward_{name}{labels} {value}" for labels, value in values.items()
    ]


def _counter_lines(name: str, about: str, label: str, counts: Counter[str]) -> list[str]:
    return _series(name, "counter", about, {f'{label}="{value}"': count for value, count in sorted(counts.items())})
