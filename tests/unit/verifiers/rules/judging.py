"""Verdicts on many inputs: worked out in this process, or by a pool's workers, as a run gets them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import structs

from tests.workers import verdicts_in
from workbench.core.verdict import Verdict, VerifierInput
from workbench.verifiers.base import Pending
from workbench.verifiers.pool import WorkerPool
from workbench.verifiers.rules.verifier import Rules


def in_workers(pool: WorkerPool, inputs: Iterable[VerifierInput]) -> list[Verdict]:
    """What the pool's workers say, in the order of the inputs; what timed out is asked again: machines are busy."""
    inputs = list(inputs)
    verdicts = _once(pool, inputs)
    late = [number for number, verdict in enumerate(verdicts) if verdict.reason == "timeout"]
    for number, verdict in zip(late, _once(pool, [inputs[number] for number in late]), strict=True):
        verdicts[number] = verdict
    return verdicts


def _once(pool: WorkerPool, inputs: Iterable[VerifierInput]) -> list[Verdict]:
    return verdicts_in(pool, [structs.replace(one, item=number) for number, one in enumerate(inputs)])


def as_in_a_run(pool: WorkerPool, inputs: Sequence[VerifierInput]) -> list[Verdict]:
    """What `rules` says: its first stage where that decides, else a worker, asked once for inputs of one key."""
    quick = [Rules().quick(one) for one in inputs]
    left = {first.key: one for one, first in zip(inputs, quick, strict=True) if isinstance(first, Pending)}
    late = dict(zip(left, in_workers(pool, left.values()), strict=True))
    return [late[first.key] if isinstance(first, Pending) else first for first in quick]


def by_rules(inputs: Iterable[VerifierInput]) -> list[Verdict]:
    """What `rules` says, its second stage included: no deadline depends on the machine's load."""
    return [_judged(structs.replace(one, item=0)) for one in inputs]


@cache
def _judged(one: VerifierInput) -> Verdict:
    first = Rules().quick(one)
    if not isinstance(first, Pending):
        return first
    if first.key not in _deferred:
        _deferred[first.key] = Rules().verify(one)
    return _deferred[first.key]


_deferred = dict[bytes | None, Verdict]()
"""Verdicts of the second stage by what they depend on."""
