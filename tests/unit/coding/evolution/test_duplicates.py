"""Near-duplicate problems from files, embeddings of a server, and a local model."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.evolving import own_project
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.coding.duplicates import (
    embed_by_server,
    embed_locally,
    find_duplicates,
    read_cosines,
    read_remaining,
    write_remaining,
)
from workbench.coding.evolution.tables import duplicates_text
from workbench.core.errors import FormatError, RunError, StoreError, UsageError
from workbench.core.project import Project
from workbench.runs.generation import Models, models_from

LINES = [
    {"task_id": "a", "vector": [1, 0], "source": "taco"},
    {"task_id": "b", "vector": [2, 0.1], "source": "apps"},
    {"task_id": "c", "vector": [0, 1], "source": "apps"},
]


def lines(folder: Path, *rows: object) -> Path:
    path = folder / "vectors.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def vector(text: str) -> list[float]:
    """The first two problems of `own_project` say the same, the third does not."""
    return [1.0, 0.1, 0.0] if "clip10" in text else [1.0, 0.0, 0.1] if "clip11" in text else [0.0, 0.0, 1.0]


def embedding(received: Received) -> Scripted:
    texts = received.body["input"]
    data = [{"index": index, "object": "embedding", "embedding": vector(text)} for index, text in enumerate(texts)]
    return Scripted(body={"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 9, "total_tokens": 9}})


def model(project: Project, server: ScriptedServer) -> Models:
    return models_from(project, ["mpnet"], {"base_url": server.url})


def test_vectors_in_a_file_are_counted_by_source_before_and_after(tmp_path: Path) -> None:
    report = find_duplicates(read_cosines(lines(tmp_path, *LINES)))
    assert (report.problems, report.kept) == (3, 2)
    assert [(one.source, one.before) for one in report.sources] == [("apps", 2), ("taco", 1)]
    (gone,) = report.duplicates
    assert {gone.task_id, gone.of} == {"a", "b"}
    assert report.overlaps["taco"] == {"apps": 1.0, "taco": 1.0}
    assert report.mean_before is not None
    assert report.mean_after is not None
    assert report.mean_after < report.mean_before
    assert sum(report.before) == 3
    assert sum(report.after) == 2
    text = duplicates_text(report)
    assert "apps         2" in text
    assert "Share of a source's problems" in text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"task_id": "a", "vector": []}], ":1:vector: A vector has a direction"),
        ([{"task_id": "a", "vector": [0, 0]}], ":1:vector:"),
        ([{"task_id": "a", "vector": [1]}, {"task_id": "b", "vector": [1, 2]}], ":2:vector: it has 2 numbers"),
        ([{"task_id": "a", "vector": [1]}] * 2, ":2:task_id: 'a' is on an earlier line already"),
        ([{"vector": [1]}], ":1:task_id:"),
        ([], "holds no vectors"),
    ],
    ids=["empty", "zero", "lengths", "twice", "no-id", "nothing"],
)
def test_a_wrong_file_of_vectors_is_rejected_with_line_and_field(tmp_path: Path, rows: list[Any], message: str) -> None:
    with pytest.raises(FormatError, match=message.replace("(", r"\(")):
        read_cosines(lines(tmp_path, *rows))


def test_embeddings_are_requested_only_once(tmp_path: Path) -> None:
    project = own_project(tmp_path)
    with scripted(embedding) as server:
        for _ in range(2):
            compared = embed_by_server(project, "mpnet", model(project, server))
            report = find_duplicates(compared)
        assert (report.problems, report.kept, report.similarity) == (3, 2, "mpnet")
        (request,) = server.received
        assert request.path == "/v1/embeddings"
        assert request.body["model"] == "mpnet"
        assert len(request.body["input"]) == 3
    with pytest.raises(StoreError, match="belongs to the database itself"):
        write_remaining(compared, report, project.path, project=project, force=True)
    project.close()


def test_a_server_that_gives_no_vectors_is_named(tmp_path: Path) -> None:
    project = own_project(tmp_path)
    with scripted(lambda _: Scripted(400, body={"error": {"message": "too long"}})) as server:
        with pytest.raises(RunError, match="no embeddings"):
            embed_by_server(project, "mpnet", model(project, server))
        with pytest.raises(RunError, match="no 'embeddings' call"):
            embed_by_server(
                project, "other", models_from(project, ["m"], {"base_url": server.url, "server": "anthropic"})
            )
    project.close()


class FakeSentenceTransformers(ModuleType):
    """A fake of sentence-transformers."""

    made: list[tuple[str, dict[str, Any]]]

    class SentenceTransformer:
        def __init__(self, name: str, **options: Any) -> None:
            FakeSentenceTransformers.made = [(name, options)]

        def encode(self, texts: list[str], **_: Any) -> Any:
            return np.array([vector(text) for text in texts])


def test_a_local_model_runs_no_remote_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = own_project(tmp_path)
    monkeypatch.setitem(sys.modules, "sentence_transformers", FakeSentenceTransformers("sentence_transformers"))
    assert find_duplicates(embed_locally(project, "folder")).kept == 2
    assert FakeSentenceTransformers.made == [
        ("folder", {"trust_remote_code": False, "model_kwargs": {"use_safetensors": True}})
    ]
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(UsageError, match="not installed"):
        embed_locally(project, "folder")
    project.close()


def test_kept_problems_round_trip(tmp_path: Path) -> None:
    compared = read_cosines(lines(tmp_path, *LINES))
    report = find_duplicates(compared)
    write_remaining(compared, report, tmp_path / "kept.jsonl")
    assert read_remaining(tmp_path / "kept.jsonl") == {"a", "b", "c"} - {report.duplicates[0].task_id}
    with pytest.raises(FormatError, match="2:task_id"):
        read_remaining(lines(tmp_path, {"task_id": "a"}, {"id": "b"}))
