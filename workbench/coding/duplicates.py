"""Find near-duplicate problems by embeddings from a file, a model server, or a local model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from workbench.core.code import BASE
from workbench.core.errors import Command, FormatError, UsageError
from workbench.core.item import Refusal
from workbench.core.project import Project
from workbench.data.alike import (
    ROWS,
    Alike,
    Duplicate,
    Similarities,
    find_dropped,
    find_similar,
    random_generator,
)
from workbench.data.formats.rows import read_checked
from workbench.data.formats.writing import write_lines
from workbench.data.records import DuplicateLine, DuplicateReport, EmbeddingLine, RemainingProblem, SourceCount
from workbench.data.store import problems as problem_list
from workbench.data.store.tests import problems_of
from workbench.runs import generation
from workbench.runs.generation import Models, Watch

if TYPE_CHECKING:
    from workbench.statistics.confusion import FloatArray


# -- Near-duplicates by the cosine similarity of their embeddings (EvolveCoder 2.1).


NEIGHBOURS: Final = 10
"""Number of nearest neighbours whose mean cosine measures the density around a problem (figure 2)."""


def duplicates(found: Alike, problems: int, seed: int) -> list[Duplicate]:
    """Return the problems to drop as near-duplicates, in order.

    Args:
        found: The pairs of similar problems.
        problems: Number of problems.
        seed: Seed of the order in which problems are visited.
    """
    order = list(range(problems))
    random_generator(seed, "duplicates").shuffle(order)
    return find_dropped(found, order)


def neighbour_means(similarities: Similarities, places: Sequence[int]) -> list[float]:
    """Return each problem's mean cosine to its ten nearest neighbours, within ``places``; empty for one problem."""
    import numpy as np

    of = np.array(places, dtype=np.int64)
    nearest = min(NEIGHBOURS, len(of) - 1)
    means: list[float] = []
    if nearest < 1:
        return means
    for start in range(0, len(of), ROWS):
        block = similarities.rows(of[start : start + ROWS], of).copy()
        block[np.arange(len(block)), start + np.arange(len(block))] = -np.inf
        top = np.partition(block, len(of) - nearest, axis=1)[:, -nearest:]
        means += top.mean(axis=1).tolist()
    return means


def overlaps(found: Alike, sources: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return, by source and other source, the share of its problems with a similar one in the other (figure 1)."""
    sizes = Counter(sources)
    names = sorted(sizes)
    counts = {name: dict.fromkeys(names, 0) for name in names}
    for place, others in found.items():
        for name in {sources[other] for other, _ in others}:
            counts[sources[place]][name] += 1
    return {
        name: {other: 1.0 if other == name else count / sizes[name] for other, count in counts[name].items()}
        for name in names
    }


THRESHOLD: Final = 0.9
"""Cosine above which the paper considers two problems duplicates."""
_BINS: Final = 20
_NO_SOURCE: Final = "–"


class ProblemCosines(Struct, frozen=True, kw_only=True):
    """Problems with their cosines.

    Attributes:
        problems: Each problem with its data set ("" from a file) and its source.
        similarity: The text whose cosines are compared.
    """

    problems: tuple[RemainingProblem, ...]
    similarities: Similarities
    similarity: str


_EMBEDDINGS_HINT = 'Lines are {"task_id": …, "vector": [numbers]}, optionally with source.'


def read_embeddings(path: Path) -> dict[str, EmbeddingLine]:
    """Return the embeddings in a file, by the problem's id.

    Raises:
        FormatError: The file can't be read, or a line is invalid; an incomplete set of problems is of no use.
    """
    found: dict[str, EmbeddingLine] = {}
    size = 0
    for number, line in read_checked(path, msgspec.json.Decoder(EmbeddingLine), _vector_fault):
        if isinstance(line, Refusal):
            raise FormatError(f"{path}:{number}:{line.field or ''}: {line.message}", _EMBEDDINGS_HINT)
        if line.task_id in found:
            raise FormatError(f"{path}:{number}:task_id: {line.task_id!r} is on an earlier line already.")
        size = size or len(line.vector)
        if len(line.vector) != size:
            raise FormatError(
                f"{path}:{number}:vector: it has {len(line.vector)} numbers, but vectors on other lines "
                f"have more or fewer."
            )
        found[line.task_id] = line
    if not found:
        raise FormatError(f"{path} holds no vectors.", _EMBEDDINGS_HINT)
    return found


def _vector_fault(line: EmbeddingLine) -> tuple[str, str] | None:
    if not line.vector or not all(map(isfinite, line.vector)) or not any(line.vector):
        return "vector", "A vector has a direction: numbers, and not all of them 0."
    return None


def read_cosines(path: Path) -> ProblemCosines:
    """Read the problems of a file of vectors.

    Raises:
        FormatError: The file can't be read, or is invalid.
    """
    import numpy as np

    lines = read_embeddings(path).values()
    problems = tuple(
        RemainingProblem(task_id=line.task_id, dataset="", source=line.source or _NO_SOURCE) for line in lines
    )
    similarities = Similarities(np.array([line.vector for line in lines]))
    return ProblemCosines(problems=problems, similarities=similarities, similarity=path.name)


def embed_by_server(
    project: Project, name: str, models: Models, *, trust: bool = False, watch: Watch | None = None
) -> ProblemCosines:
    """Embed the project's problems with a server's ``embeddings`` call; each problem's vector is requested only once.

    Raises:
        UsageError: There are no problems.
        NotTrustedError: The servers come from a file, and the user has not accepted them.
        RunError: The server returns no vectors.
    """
    problems, texts = _texts(project)
    vectors = generation.embed_by_server(project, name, models, texts, trust=trust, watch=watch)
    (model, *_) = models.models.values()
    return _problem_cosines(problems, vectors, model.server.model)


def embed_locally(project: Project, model: str) -> ProblemCosines:
    """Embed the project's problems with sentence-transformers on this machine.

    Raises:
        UsageError: There are no problems, or sentence-transformers is not installed.
    """
    problems, texts = _texts(project)
    return _problem_cosines(problems, generation.embed_locally(model, texts), model)


def find_duplicates(compared: ProblemCosines, *, threshold: float = THRESHOLD, seed: int = 0) -> DuplicateReport:
    similarities, problems = compared.similarities, compared.problems
    found = find_similar(similarities, threshold)
    gone = duplicates(found, len(problems), seed)
    away = {one.place for one in gone}
    kept = [place for place in range(len(problems)) if place not in away]
    before = neighbour_means(similarities, range(len(problems)))
    after = neighbour_means(similarities, kept)
    sources = [one.source for one in problems]
    counts = Counter(sources[place] for place in kept)
    edges = tuple(round(number / _BINS, 2) for number in range(_BINS + 1))
    return DuplicateReport(
        similarity=compared.similarity,
        threshold=threshold,
        seed=seed,
        problems=len(problems),
        kept=len(kept),
        sources=tuple(
            SourceCount(source=source, before=count, after=counts[source])
            for source, count in sorted(Counter(sources).items())
        ),
        overlaps=overlaps(found, sources),
        neighbours=NEIGHBOURS,
        mean_before=_mean(before),
        mean_after=_mean(after),
        edges=edges,
        before=_bin_counts(before),
        after=_bin_counts(after),
        duplicates=tuple(
            DuplicateLine(
                task_id=problems[one.place].task_id,
                dataset=problems[one.place].dataset,
                of=problems[one.of].task_id,
                of_dataset=problems[one.of].dataset,
                similarity=one.similarity,
            )
            for one in gone
        ),
    )


def write_remaining(
    compared: ProblemCosines,
    report: DuplicateReport,
    path: Path,
    *,
    project: Project | None = None,
    force: bool = False,
) -> None:
    """Write the remaining problems, one JSON line each.

    Args:
        project: The project of the problems; None if they come from a file.

    Raises:
        FormatError: The file exists, or can't be written.
        StoreError: The file is part of the project's database.
    """
    if project is not None:
        project.database.require_other(path)
    gone = {(one.dataset, one.task_id) for one in report.duplicates}
    kept = (one for one in compared.problems if (one.dataset, one.task_id) not in gone)
    write_lines(path, kept, force=force)


def read_remaining(path: Path) -> frozenset[str]:
    """Return the ids in a file of remaining problems, or in any file of lines with ``task_id``.

    Raises:
        FormatError: The file can't be read, or a line has no id.
    """
    from workbench.core.item import Refusal
    from workbench.data.formats.rows import read_records

    found = set()
    for number, _, line in read_records(path, msgspec.json.Decoder(_TaskId)):
        if isinstance(line, Refusal):
            raise FormatError(f"{path}:{number}:{line.field or ''}: {line.message}", 'A line is {"task_id": …}.')
        found.add(line.task_id)
    return frozenset(found)


class _TaskId(Struct, frozen=True):
    task_id: str


def _texts(project: Project) -> tuple[tuple[RemainingProblem, ...], list[str]]:
    reader = project.database.reader()
    problems, texts = [], []
    for number, dataset in problem_list.datasets(reader):
        tasks = problem_list.tasks(reader, number, BASE)
        found = problems_of(project.database, [one.question for one in tasks], [])
        for one in tasks:
            problems.append(RemainingProblem(task_id=one.task_id, dataset=dataset, source=one.source or dataset))
            texts.append(found[one.question].prompt)
    if not problems:
        raise UsageError("There are no code problems here.", f"{Command('import DB problems.jsonl solutions.jsonl')}")
    return tuple(problems), texts


def _problem_cosines(problems: tuple[RemainingProblem, ...], vectors: FloatArray, model: str) -> ProblemCosines:
    try:
        similarities = Similarities(vectors)
    except ValueError as error:
        raise UsageError(f"{model}: {error}.", "Check that it is an embedding model.") from error
    return ProblemCosines(problems=problems, similarities=similarities, similarity=model)


def _bin_counts(means: Iterable[float]) -> tuple[int, ...]:
    counts = Counter(min(max(int(mean * _BINS), 0), _BINS - 1) for mean in means)
    return tuple(counts[number] for number in range(_BINS))


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
