"""Near-duplicate code problems: their input and report; null for undefined values."""

from __future__ import annotations

from msgspec import Struct


class EmbeddingLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code duplicates --from``: a problem's embedding.

    Attributes:
        vector: Numbers, as many on every line, not all of them 0.
        source: Where the problem is from.
    """

    task_id: str
    vector: list[float]
    source: str = ""


class DuplicateLine(Struct, frozen=True, kw_only=True):
    """A problem that is dropped as a duplicate of another.

    Attributes:
        of: The problem that stays, in ``of_dataset``.
        similarity: Their cosine.
    """

    task_id: str
    dataset: str
    of: str
    of_dataset: str
    similarity: float


class SourceCount(Struct, frozen=True, kw_only=True):
    """Problems of a source before and after (table 1)."""

    source: str
    before: int
    after: int


class DuplicateReport(Struct, frozen=True, kw_only=True):
    """``workbench code duplicates --json``.

    Attributes:
        similarity: What the cosines are of: a model, or a file.
        threshold: Two problems are alike if their cosine is greater.
        problems: Before.
        kept: After.
        sources: By source (table 1).
        overlaps: The share of each source's problems that are alike to one of another source (figure 1).
        neighbours: Nearest neighbours that means are over.
        mean_before: Mean over problems of the mean cosine to their nearest neighbours; None for a single problem.
        mean_after: The same among those that stay.
        edges: Bounds of the bins of such means (figure 2).
        before: Problems by bin.
        after: Those that stay by bin.
        duplicates: Those that go.
    """

    similarity: str
    threshold: float
    seed: int
    problems: int
    kept: int
    sources: tuple[SourceCount, ...]
    overlaps: dict[str, dict[str, float]]
    neighbours: int
    mean_before: float | None
    mean_after: float | None
    edges: tuple[float, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    duplicates: tuple[DuplicateLine, ...]


class RemainingProblem(Struct, frozen=True, kw_only=True):
    """A problem that stays: a line that ``workbench code duplicates --output`` writes."""

    task_id: str
    dataset: str
    source: str
