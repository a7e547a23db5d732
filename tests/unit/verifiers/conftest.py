"""An installed plugin package: a module and its entry point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[[str, dict[str, str]], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with verifier entry points on ``sys.path``, for this test only."""

    def put(package: str, verifiers: dict[str, str]) -> None:
        folder = tmp_path / package
        metadata = folder / f"{package.replace('-', '_')}-1.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = [f"{name} = {target}\n" for name, target in verifiers.items()]
        (metadata / "entry_points.txt").write_text("[workbench.verifiers]\n" + "".join(lines))
        monkeypatch.syspath_prepend(str(folder))

    return put


@pytest.fixture
def hostile(install: Install) -> None:
    """The verifier ``hostile`` is installed."""
    install("hostile-plugin", {"hostile": "tests.unit.verifiers.hostile_plugin:Hostile"})
