"""Helpers for tests of completions: plans of models on scripted servers, and the completions they write."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.servers.wire import Received, Scripted
from workbench.benchmarks.records import CompletionsWritten
from workbench.benchmarks.sampling.asking import CompletionPlan
from workbench.benchmarks.sampling.completing import complete
from workbench.benchmarks.sampling.planning import plan_in
from workbench.core.project import Project

Answer = Callable[[str, str], str | Scripted]
"""Returns the model's reply, given the model's name and the question."""


def write_plan(folder: Path, url: str, models: Mapping[str, str], head: str = "") -> Path:
    """Write a plan of the set ``draw``: model -> further lines of its table; ``head`` are lines before the tables."""
    tables = "".join(f'[[models]]\nname = "{name}"\n{lines}\n' for name, lines in models.items())
    defaults = f'[defaults]\nbase_url = "{url}"\nserver = "vllm"\n'
    file = folder / "plan.toml"
    file.write_text(f'set = "draw"\n{head}\n{defaults}{tables}', encoding="utf-8")
    return file


def plan(project: Project, url: str, models: Mapping[str, str], head: str = "") -> CompletionPlan:
    """Write such a plan and load it."""
    return plan_in(project, write_plan(project.path.parent, url, models, head))


def answering(answer: Answer) -> Callable[[Received], str | Scripted]:
    """Return a server script that replies by model and question."""
    return lambda received: answer(received.body["model"], received.body["messages"][-1]["content"])


def carry_out(project: Project, plan_to_run: CompletionPlan, *, again: bool = False) -> CompletionsWritten:
    """Run `complete` with the user's trust."""
    return complete(project, plan_to_run, again=again, trust=True)


def completions(project: Project) -> list[tuple[int, str, str, str, dict[str, Any]]]:
    """Return (row id, key, model, text, extra) of all completions in the order of their row ids."""
    rows = project.database.reader().execute(
        "SELECT c.id, c.key, m.name, t.text, t.extra FROM completions AS c JOIN completion_text AS t ON t.id = c.id "
        "JOIN models AS m ON m.id = c.model_id ORDER BY c.id"
    )
    return [(*row[:4], json.loads(row[4])) for row in rows]
