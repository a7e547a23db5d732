"""The other completions of an item's question, for a verifier that compares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from workbench.core.database.connection import Database
from workbench.core.verdict import Rival, VerifierInput
from workbench.runs.store import verdicts
from workbench.verifiers.base import Identified
from workbench.verifiers.duel.pairwise import Pairwise


def with_rivals(database: Database, verifier: Identified, items: Iterable[VerifierInput]) -> list[VerifierInput]:
    if not isinstance(verifier, Pairwise):
        return list(items)
    return [structs.replace(item, rivals=_rivals(database, item.item, verifier.opponents)) for item in items]


def paired(
    database: Database, verifier: Pairwise, chunks: Iterable[list[VerifierInput]]
) -> Iterator[list[VerifierInput]]:
    """Yield all items of a run with their rivals, one at a time, so that the runner can do other work in between."""
    for chunk in chunks:
        for item in chunk:
            yield with_rivals(database, verifier, [item])


def _rivals(database: Database, item: int, count: int) -> tuple[Rival, ...]:
    reader = database.reader()
    circle = verdicts.sibling_completions(reader, item)
    if item not in circle:
        return ()
    here = circle.index(item)
    steps = [step for distance in range(1, count // 2 + 1) for step in (distance, -distance)]
    near = dict.fromkeys(circle[(here + step) % len(circle)] for step in steps)
    return tuple(Rival(item=one, completion=text) for one, text in verdicts.texts(reader, [*near]) if one != item)
