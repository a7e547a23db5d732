"""Commands run in the test's own process: as the user's shell would, without the second it takes to start one."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from workbench.cli import main

Call = Callable[..., tuple[int, str, str]]


def in_process(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    """Runs ``workbench`` with these arguments; gives exit code, stdout and stderr."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["workbench", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capfd.readouterr()
        return int(ended.value.code or 0), captured.out, captured.err

    return call
