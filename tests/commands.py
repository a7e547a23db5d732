"""Run commands in the test's process: what a user's shell would do, without the second it takes to start Python."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile

import click
import pytest

from workbench.app.cli import main
from workbench.verifiers.execution import levels

Call = Callable[..., tuple[int, str, str]]


def stub_sandboxes(patch: pytest.MonkeyPatch) -> None:
    """Let the doctor find that all sandboxes work; test_levels.py runs the attacks on them, which take ten seconds."""
    patch.setattr(levels, "survey", lambda: [levels.LevelStatus(level=level) for level in levels.SAFE_LEVELS])
    patch.setattr(levels, "survey_scratch", lambda: levels.LevelStatus(level="L3"))


def in_process(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Return a function that runs ``workbench`` and returns exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        stub_sandboxes(monkeypatch)
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call


def run(*arguments: object, cwd: Path | None = None, stdin: bytes = b"") -> CompletedProcess[str]:
    """Run ``workbench`` with the same result as `subprocess.run`; fixtures of any scope can use it.

        Args:
    stdin: The content of standard input.
    """
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    command = ["workbench", *map(str, arguments)]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", command)
        stub_sandboxes(patch)
        with chdir(cwd) if cwd else nullcontext(), _standard_input(stdin), pytest.raises(SystemExit) as ended:
            main()
    texts = [stream.buffer.getvalue().decode() for stream in (out, err) if isinstance(stream.buffer, BytesIO)]
    return CompletedProcess(command, int(ended.value.code or 0), *texts)


@contextmanager
def _standard_input(stdin: bytes) -> Iterator[None]:
    with TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        before = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(before, 0)
            os.close(before)


def done(*words: object) -> None:
    """Run a command that must succeed."""
    ended = run(*words)
    assert ended.returncode == 0, ended.stderr


def parsed(command: click.Command, words: list[str], parent: click.Context | None = None) -> None:
    """Parse the command line without running the command."""
    context = command.make_context(command.name, list(words), parent=parent)
    if isinstance(command, click.Group):
        _, inner, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        assert inner is not None
        parsed(inner, rest, context)
