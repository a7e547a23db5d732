"""Numbers instead of text: vLLM's score, classify, pooling and rerank, SGLang's classify and rerank, and embeddings.

Results are put back by their ``index``: a rerank comes best first, and no server promises the order of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from workbench.llm.dialects.fields import entries, mapping, number, optional_count, optional_text
from workbench.llm.dialects.openai import usage
from workbench.llm.failures import malformed
from workbench.llm.profiles import Profile
from workbench.llm.records import Reply, Scoring, Usage

Vector = tuple[float, ...]


def build(profile: Profile, model: str, request: Scoring) -> tuple[bytes, str, bool]:
    """The body of a call, its path, and whether that lies beside the base URL's ``/v1``.

    Raises:
        ValueError: The server has no such call or option, or the query is missing.
    """
    if request.task == "embeddings":
        return _embeddings(profile, model, request)
    if request.task not in profile.scores:
        known = ", ".join(sorted(profile.scores)) or "none"
        raise ValueError(f"{profile.title} has no {request.task!r} call (of these it has: {known})")
    if request.query is None and request.task in {"score", "rerank"}:
        raise ValueError(f"{request.task!r} needs a query")
    if request.activate is not None and profile.name == "sglang":
        raise ValueError(f"{profile.title} applies what activation it likes; leave activation to the server")
    texts = list(request.texts)
    match request.task:
        case "score":
            body: dict[str, Any] = {"model": model, "text_1": request.query, "text_2": texts}
        case "rerank":
            body = {"model": model, "query": request.query, "documents": texts}
        case _:
            # SGLang's own call takes ``text``.
            body = {"model": model, "text" if profile.name == "sglang" else "input": texts}
    if request.activate is not None:
        body["use_activation"] = request.activate
    return msgspec.json.encode(body), request.task, request.task != "rerank"


def _embeddings(profile: Profile, model: str, request: Scoring) -> tuple[bytes, str, bool]:
    """OpenAI's call, which every server of its dialect has."""
    if profile.dialect != "openai-chat":
        raise ValueError(f"{profile.title} has no 'embeddings' call")
    body = {"model": model, "input": list(request.texts)}
    return msgspec.json.encode(body), request.task, False


def read(data: Any, task: str, count: int | None) -> Reply:
    """One number a text, in the order of the texts; of a vector the last value counts, and the whole is kept.

    Raises:
        AttemptFailed: Scores are missing, too many or no numbers.
    """
    rows = [mapping(row, "a result") for row in _rows(data)]
    vectors = [_vector(row, task) for row in rows]
    places = [_place(row, position) for position, row in enumerate(rows)]
    if sorted(places) != list(range(len(rows))) or not rows or (count is not None and len(rows) != count):
        raise malformed(f"{len(rows)} results of indexes {str(places)[:80]} for {count or 'some'} texts")
    ordered = tuple(vector for _, vector in sorted(zip(places, vectors, strict=True)))
    whole = data if isinstance(data, dict) else {}
    return Reply(
        scores=tuple(vector[-1] for vector in ordered),
        vectors=ordered if any(len(vector) > 1 for vector in ordered) else (),
        activation=_activation(task, rows, ordered),
        model=optional_text(whole, "model"),
        usage=_usage(whole, rows),
    )


def _rows(data: Any) -> list[Any]:
    if isinstance(data, dict):
        data = data.get("results" if "results" in data else "data")
    return entries(data, "the list of results")


def _place(row: dict[str, Any], position: int) -> int:
    if "index" not in row:
        return position
    index = row["index"]
    if isinstance(index, bool) or not isinstance(index, int):
        raise malformed("an index is no number")
    return index


def _vector(row: dict[str, Any], task: str) -> Vector:
    names = {"score": ("score",), "rerank": ("relevance_score", "score"), "classify": ("probs", "embedding")}
    for name in names.get(task, ("data", "embedding")):
        if name in row:
            return _numbers(row[name], f"{name} of a result")
    raise malformed(f"a result without {' or '.join(names.get(task, ('data',)))}")


def _numbers(value: Any, what: str) -> Vector:
    """A number, a vector, or of a list of vectors (one a token) one number each or else the last."""
    if not isinstance(value, list):
        return (number(value, what),)
    if not value:
        raise malformed(f"{what} is empty")
    if isinstance(value[0], list):
        inner: Sequence[Any] = [entries(one, what) for one in value]
        value = [one[0] for one in inner] if all(len(one) == 1 for one in inner) else inner[-1]
        if not value:
            raise malformed(f"{what} is empty")
    return tuple(number(one, what) for one in value)


def _activation(task: str, rows: list[dict[str, Any]], vectors: tuple[Vector, ...]) -> str | None:
    """vLLM's classify sends probabilities: a softmax over several classes, a sigmoid of one. Others don't say."""
    if task == "classify" and all("probs" in row for row in rows):
        return "softmax" if len(vectors[0]) > 1 else "sigmoid"
    return None


def _usage(whole: dict[str, Any], rows: list[dict[str, Any]]) -> Usage:
    said = usage(whole.get("usage"))
    if said.prompt_tokens is not None:
        return said
    total = optional_count(whole.get("usage"), "total_tokens")
    counts = [optional_count(row.get("meta_info"), "prompt_tokens") for row in rows]
    if total is None and all(one is not None for one in counts):
        total = sum(one for one in counts if one is not None)
    return Usage(prompt_tokens=total, completion_tokens=0 if total is not None else None)
