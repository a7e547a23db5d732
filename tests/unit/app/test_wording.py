"""Messages name options and commands as each front end declares them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import workbench
from workbench.app.cli import COMMAND_LINE
from workbench.app.verbs import COMMANDS, every_verb, in_app, verb_of
from workbench.core.errors import PYTHON, Command, FrontEnd, UsageError, flag_of, opt, set_front_end
from workbench.core.options import fields_of

PACKAGE = Path(workbench.__file__).parent
FLAG = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-o )")
COMMAND = re.compile(rf"(?<![\w.-])workbench ({'|'.join(COMMANDS)})\b")
OTHER_PROGRAMS = ("ray start", "--no-log-samples", "Install workbench")
CALLED = ("app/verbs.py", "app/tui/lending.py", "app/tui/replays.py", "app/tui/sharing.py")
"""Modules that call programs, or describe what commands print."""
ACTIONS = {"list", "show", "pause", "resume", "cancel", "add", "import", "restore"}


@pytest.mark.parametrize(
    ("front_end", "said"),
    [
        (COMMAND_LINE, "No run. Name it: --verifier NAME, or start one: workbench verify DB rules --name 'a b'"),
        (in_app("^p"), "No run. Name it: “verifier”, or start one: Verify (^p)"),
        (PYTHON, "No run. Name it: `verifier=NAME`, or start one: workbench verify DB rules --name 'a b'"),
    ],
)
def test_each_front_end_words_errors_in_its_terms(front_end: FrontEnd, said: str) -> None:
    set_front_end(front_end)
    command = Command("verify DB rules", name="a b")
    error = UsageError("No run.", f"Name it: {opt.verifier:NAME}, or start one", command)
    assert (str(error), error.command) == (said, command)


def test_data_is_never_mistaken_for_an_option() -> None:
    set_front_end(in_app("^p"))
    assert str(UsageError("There is no '{opt.limit} --limit'.", f"Leave {opt.limit} out.")).startswith(
        "There is no '{opt.limit} --limit'."
    )


@cache
def modules() -> dict[str, ast.Module]:
    return {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}


def named_options() -> Iterator[tuple[str, str]]:
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "opt":
                yield module, node.attr.rstrip("_").replace("_", "-")


def named_commands() -> Iterator[tuple[str, str, list[str]]]:
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Command":
                first = node.args[0]
                words = first.values[0] if isinstance(first, ast.JoinedStr) else first
                if isinstance(words, ast.Constant):
                    yield module, str(words.value), [str(one.arg).rstrip("_") for one in node.keywords]


def flags_of(record: object) -> set[str]:
    return {flag for field in fields_of(record) for flag in field.flags}  # type: ignore[arg-type]


def test_every_named_option_and_command_is_declared() -> None:
    records = {verb.name: verb.declared().record for verb in every_verb()}
    flags = {flag for record in records.values() for flag in flags_of(record)} | {"--json", "--help"}
    options, commands = [*named_options()], [*named_commands()]
    assert (len(options) > 100, len(commands) > 100) == (True, True)
    assert {(module, name) for module, name in options if flag_of(name) not in flags} == set()
    for module, line, named in commands:
        name = verb_of(f"workbench {line.strip()}")
        assert name in records, (module, line)
        unknown = {one for one in named if flag_of(one.replace("_", "-")) not in flags_of(records[name])}
        assert unknown == set(), (module, line)


def texts(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a module that are neither docstrings nor flags in a declaration of options."""
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "option":
            skipped |= {id(one) for one in node.args[1:]}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.value


def test_only_the_command_line_spells_flags_and_commands() -> None:
    found = {
        f"{module}: {text}"
        for module, tree in modules().items()
        if not module.startswith(("app/cli/", "verifiers/execution/")) and module not in CALLED
        for text in texts(tree)
        if (FLAG.search(text) or COMMAND.search(text)) and not any(one in text for one in OTHER_PROGRAMS)
    }
    assert found == set()


def test_options_are_worded_when_a_message_is_made() -> None:
    for module, tree in modules().items():
        inside = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and id(node) not in inside:
                assert not re.search(r"\bopt\.|\bCommand\(", ast.unparse(node)), module
