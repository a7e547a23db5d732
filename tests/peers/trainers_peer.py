"""Extract from trainers' wheels how they call reward functions; nothing of them is imported or run.

python trainers_peer.py OUT WHEEL...   writes what tests/unit/training/test_signatures.py checks against

Get a wheel with ``pip download --no-deps trl`` (verl, openrlhf). The output contains only names: the keywords of each
call of a reward function, the names and defaults of a default one, the fields posted and read.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

FILES = {
    "trl": ["trl/trainer/grpo_trainer.py", "trl/trainer/rloo_trainer.py"],
    "verl": [
        "verl/workers/reward_manager/naive.py",
        "verl/workers/reward_manager/batch.py",
        "verl/experimental/reward_loop/reward_manager/naive.py",
        "verl/experimental/reward_loop/reward_manager/remote.py",
        "verl/utils/reward_score/__init__.py",
    ],
    "openrlhf": ["openrlhf/utils/agent.py"],
}
CALLED = {"reward_func", "compute_score"}
DEFAULT = "default_compute_score"


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text(node: ast.expr | None) -> str:
    assert isinstance(node, ast.Constant)
    return str(node.value)


def calls(tree: ast.AST) -> Iterator[dict[str, Any]]:
    """Return calls of reward functions, also those run in threads: the number of positional arguments, the keywords."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        arguments = node.args
        called = name_of(node.func)
        if called == "to_thread" and arguments:
            called, arguments = name_of(arguments[0]), arguments[1:]
        if called == "remote" and isinstance(node.func, ast.Attribute):
            called = name_of(node.func.value)
        if called in CALLED and (arguments or node.keywords[1:]):
            yield {"positions": len(arguments), "keywords": [one.arg for one in node.keywords if one.arg is not None]}


def set_keys(tree: ast.AST, variable: str) -> list[str]:
    """Return keys that are assigned to a dictionary by name."""
    return [
        text(target.slice)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and name_of(target.value) == variable
        if isinstance(target.slice, ast.Constant)
    ]


def signatures(tree: ast.AST) -> Iterator[dict[str, Any]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == DEFAULT:
            names = [one.arg for one in node.args.args]
            defaults = dict(zip(reversed(names), map(ast.unparse, reversed(node.args.defaults)), strict=False))
            yield {"names": names, "defaults": defaults, "more": node.args.kwarg is not None}


def posted(tree: ast.AST) -> list[str]:
    """Return the fields posted to a remote reward model."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "payload" and isinstance(node.value, ast.Dict):
            return [text(key) for key in node.value.keys]
    return []


def read(tree: ast.AST) -> list[str]:
    """Return the fields read from its response."""
    return sorted(
        {
            text(node.args[0])
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
            if name_of(node.func.value) == "rewards_info"
        }
    )


def extract(wheel: Path) -> tuple[str, dict[str, Any]]:
    package, version = wheel.name.split("-")[:2]
    found: dict[str, Any] = {"version": version, "calls": {}}
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        for file in FILES[package]:
            tree = ast.parse(archive.read(next(name for name in names if name.endswith(file))))
            made = [] if file.endswith("__init__.py") else list(calls(tree))
            if made:
                found["calls"][file] = made
            for key, values in (
                ("columns", set_keys(tree, "reward_kwargs")),
                ("default", list(signatures(tree))),
                ("posted", posted(tree)),
                ("read", read(tree)),
            ):
                if values:
                    found[key] = values
    return package, found


def main() -> None:
    out, *wheels = map(Path, sys.argv[1:])
    out.write_text(json.dumps(dict(extract(wheel) for wheel in wheels), indent=1) + "\n")


if __name__ == "__main__":
    main()
