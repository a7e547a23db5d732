"""The site's reference pages, generated from the declarations when the site is built (a hook of mkdocs)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Any, Final

import click
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from tests.servers.providers.document import document
from workbench.app.cli import root
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.registry import every_screen, labels_of_keys
from workbench.core.reasons import REASONS
from workbench.verifiers.execution.attacks.attack import corpus
from workbench.verifiers.registry import Registry

NOTEBOOK: Final = Path(__file__).with_name("python.ipynb")
SCHEMA: Final = resources.files("workbench.core.database") / "schema.sql"


def cell(text: str) -> str:
    """Escape what Markdown would read as markup, outside of code in backticks."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    return "".join(
        part if number % 2 else re.sub(r"[\\|<>*_\[\]`]", lambda mark: f"&#{ord(mark[0])};", part)
        for number, part in enumerate(parts)
    )


def prose(text: str) -> str:
    """Keep the paragraphs of a help text, escaped."""
    return "\n\n".join(cell(part) for part in text.replace("\b", "").split("\n\n"))


def table(headings: list[str], rows: list[list[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def leaves(command: click.Command, context: click.Context, path: str) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with its whole name, those of groups after the group."""
    if path:
        yield path, command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from leaves(inner, click.Context(inner, context, name), f"{path} {name}".strip())


def commands_page() -> str:
    parts = ["# Commands\n\nEvery command and option of `workbench`, as `--help` shows them.\n"]
    with click.Context(root, info_name="workbench") as context:
        for path, command in leaves(root, context, ""):
            inner = click.Context(command, context, path)
            usage = " ".join(command.collect_usage_pieces(inner))
            help_text = prose(command.help or command.short_help or "")
            parts.append(f"\n## {path}\n\n```text\nworkbench {path} {usage}\n```\n\n{help_text}\n")
            records = [each.get_help_record(inner) for each in command.get_params(inner)]
            rows = [[f"`{name}`", cell(text)] for name, text in filter(None, records) if text and "--help" not in name]
            if rows:
                parts.append("\n" + table(["option", "meaning"], rows))
    return "".join(parts)


def verifiers_page() -> str:
    parts = ["# Verifiers\n\nWhat `workbench verify DB NAME -o option=value` can run, with every option.\n"]
    for kind in sorted(Registry().available(), key=lambda one: one.name):
        parts.append(f"\n## {kind.name}\n\n{kind.description}\n")
        rows = [[f"`{name}`", cell(text)] for name, text in kind.options.items()]
        if rows:
            parts.append("\n" + table(["option", "meaning"], rows))
    return "".join(parts)


def keys_page() -> str:
    found = labels_of_keys(WorkbenchApp.EVERYWHERE)
    rows = [
        [" ".join(f"<kbd>{cell(key)}</kbd>" for key in keys), cell(" · ".join(labels))]
        for keys, labels in found.items()
    ]
    parts = ["# Actions and keys\n\n## What each key does\n\n", table(["key", "actions"], rows)]
    parts.append("\n## Actions\n\nThe id is what `[keymap]` in `workbench.toml` moves to other keys.\n")
    for screen in sorted(every_screen(), key=lambda one: one.__name__):
        actions = [[f"`{one.id}`", f"`{one.keys}`" if one.keys else "–", cell(one.help)] for one in screen.ACTIONS]
        if actions:
            title = actions[0][0].strip("`").partition(".")[0]
            parts.append(f"\n### {title}\n\n" + table(["action", "keys", "help"], actions))
    return "".join(parts)


def reasons_page() -> str:
    rows = [
        [f"`{code}`", cell(one.title), *(cell(text) or "–" for text in (one.correct, one.incorrect, one.undecided))]
        for code, one in sorted(REASONS.items())
    ]
    heading = "# Reason codes\n\nThe `reason` of a verdict, and what it says of each outcome.\n\n"
    return heading + table(["code", "title", "correct", "incorrect", "abstain or error"], rows)


def attacks_page() -> str:
    rows = [
        [
            f"`{one.name}`",
            cell(one.tries),
            "yes" if one.first else "",
            f"[{cell(one.source)}]({one.link})" if one.link else cell(one.source),
        ]
        for one in (*corpus(), *corpus(scratch=True))
    ]
    heading = "# Attacks on the sandbox\n\n`workbench doctor` runs all; a level's first use runs some.\n\n"
    return heading + table(["attack", "tries to", "first", "source"], rows)


def views_page() -> str:
    parts = ["# Views\n\nThe columns of the views that queries in SQL read. See also [SQL](../sql.md).\n"]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        views = connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'").fetchall()
        for view in sorted({view for (view,) in views} - {"gold", "horizon"}):
            columns = connection.execute("SELECT name FROM pragma_table_info(?)", (view,))
            parts.append(f"\n## {view}\n\n{', '.join(f'`{column}`' for (column,) in columns)}\n")
    return "".join(parts)


def notebook_page() -> str:
    """Show the notebook's cells, each with its output."""
    parts: list[str] = []
    for one in nbformat.read(NOTEBOOK, as_version=4).cells:  # type: ignore[no-untyped-call]
        parts.append(one.source if one.cell_type == "markdown" else f"```python\n{one.source}\n```")
        for output in one.get("outputs", ()):
            parts.append(output.data.get("text/html") or f"```text\n{output.data['text/plain']}\n```")
    return "\n\n".join(parts)


API: Final = """\
# Python API

The names that a notebook, a script, a trainer or a plug-in imports. See also [Python](../python.ipynb) and
[Rewards](../rewards.md).

## Projects

::: workbench.open_project

::: workbench.app.api.Project

## Verdicts

::: workbench.judge

::: workbench.core.verdict.Verdict

::: workbench.core.verdict.Outcome

## Rewards

::: workbench.reward

::: workbench.Judge

## Languages of code

What an entry point in the group `workbench.runners` returns. See also [The sandbox](../sandbox.md#other-languages).

::: workbench.verifiers.execution.runners.LanguageRunner
    options: {members: false}

::: workbench.verifiers.execution.runners.RunnerTask
    options: {members: false}
"""
"""The public names; mkdocstrings fills them in."""

PAGES: Final[dict[str, Callable[[], str]]] = {
    "reference/commands.md": commands_page,
    "reference/verifiers.md": verifiers_page,
    "reference/actions.md": keys_page,
    "reference/reasons.md": reasons_page,
    "reference/servers.md": document,
    "reference/attacks.md": attacks_page,
    "reference/views.md": views_page,
    "reference/api.md": lambda: API,
    "python.md": notebook_page,
}


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Add the generated pages to the site."""
    for path, write in PAGES.items():
        files.append(File.generated(config, path, content=write()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link to the notebook's page, where a document links to its file."""
    return markdown.replace("python.ipynb)", "python.md)")
