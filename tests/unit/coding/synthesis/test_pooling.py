"""Pools of solutions: every model solves each problem, all solutions are stored, requested once."""

from __future__ import annotations

from pathlib import Path

from tests.evolving import own_project
from tests.servers.scripted import ScriptedServer, scripted
from tests.servers.wire import Received, Scripted
from workbench.coding import store
from workbench.coding.options import Targets
from workbench.coding.synthesis.asking import fill_pool
from workbench.core.project import Project
from workbench.data.store import browsing, tests
from workbench.runs.generation import Models, models_from


def answer(received: Received) -> str | Scripted:
    if received.body["model"] == "rude" and "clip11" in received.body["messages"][0]["content"]:
        return Scripted(400, body={"error": {"message": "no"}})
    return f"<think>hm</think>\n```python\n# by {received.body['model']}\n```"


def models(project: Project, server: ScriptedServer, *names: str) -> Models:
    return models_from(project, names, {"base_url": server.url, "seed": "5"})


def test_every_reply_is_stored_unchanged_and_requested_once(tmp_path: Path) -> None:
    project = own_project(tmp_path, 2)
    with scripted(answer) as server:
        for added in (8, 0):
            report = fill_pool(project, "pool", models(project, server, "one", "two"), 2)
            assert (report.problems, report.models, report.added, report.failed) == (2, 2, added, 0)
        assert len(server.received) == 8
    reader = project.database.reader()
    pool = store.evolution_pool(reader, 1)[-4:]
    named = [(row.completion_id, row.model) for row in browsing.rows(reader, pool, {})]
    assert named == [(f"own/10/pool-{model}-{n}", model) for model in ("one", "two") for n in (1, 2)]
    texts = tests.texts(reader, pool)
    assert all(texts[item].form == "reply" and texts[item].text.startswith("<think>") for item in pool)
    project.close()


def test_a_call_that_fails_is_counted_and_tried_again(tmp_path: Path) -> None:
    project = own_project(tmp_path, 2)
    with scripted(answer) as server:
        report = fill_pool(project, "pool", models(project, server, "rude"), 1)
        assert (report.added, report.failed) == (1, 1)
        fill_pool(project, "pool", models(project, server, "rude"), 1, targets=Targets(tasks=("own/11",)))
        assert len(server.received) == 3
    project.close()
