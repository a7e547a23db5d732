"""Near-duplicate code problems: the input file and the report; undefined values are null."""

from __future__ import annotations

from msgspec import Struct


class EmbeddingLine(Struct, frozen=True, kw_only=True):
    """One line of a file for ``workbench code duplicates --from``: a problem's embedding.

    Attributes:
        vector: Numbers, of the same length on every line, not all 0.
        source: The source of the problem.
    """

    task_id: str
    vector: list[float]
    source: str = ""


class DuplicateLine(Struct, frozen=True, kw_only=True):
    """A problem that is dropped as a duplicate of another.

    Attributes:
        of: The kept problem, in ``of_dataset``.
        similarity: The cosine similarity of the two problems.
    """

    task_id: str
    dataset: str
    of: str
    of_dataset: str
    similarity: float


class SourceCount(Struct, frozen=True, kw_only=True):
    """The number of a source's problems before and after duplicates are dropped (table 1)."""

    source: str
    before: int
    after: int


class DuplicateReport(Struct, frozen=True, kw_only=True):
    """``workbench code duplicates --json``.

    Attributes:
        similarity: Where the embeddings come from: the name of a model, or of a file.
        threshold: Two problems are duplicates if their cosine similarity is greater.
        problems: Number of problems before duplicates are dropped.
        kept: Number of problems after duplicates are dropped.
        sources: Counts by source (table 1).
        overlaps: For each source, by other source: the share of its problems that are similar to one of the other
            source (figure 1).
        neighbours: Number of nearest neighbours over which the means are taken.
        mean_before: Mean over all problems of the mean cosine similarity with the nearest neighbours; None for a single
            problem.
        mean_after: The same mean over the kept problems.
        edges: Bounds of the histogram's bins for a problem's mean similarity (figure 2).
        before: Number of problems by bin.
        after: Number of kept problems by bin.
        duplicates: The dropped problems.
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
    """A kept problem: one line of the output of ``workbench code duplicates --output``."""

    task_id: str
    dataset: str
    source: str
