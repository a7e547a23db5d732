"""The two distributions as wheels and environments with them, built and installed by uv from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE, APP = "verifier-workbench-core", "verifier-workbench"
PROJECTS = {CORE: ROOT / "parts" / "core", APP: ROOT}


def read_project(name: str) -> dict[str, Any]:
    """Return the table `project` of a distribution's pyproject.toml."""
    text = (PROJECTS[name] / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of a project in a folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)
    return Path((done.stdout + done.stderr).split()[-1])


def uv(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run uv without configuration files and without the current environment."""
    command = [sys.executable, "-m", "uv", *arguments, "--quiet", "--no-config"]
    clean = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=600, check=False, env=clean)


@cache
def why_unreachable() -> str:
    """Return why no package index can be reached; empty if one can."""
    done = uv("pip", "compile", "-", stdin="msgspec")
    return f"no package index: {done.stderr.strip().splitlines()[-1]}" if done.returncode else ""


def require_index() -> None:
    """Skip a test that needs packages if no package index can be reached."""
    if why := why_unreachable():
        pytest.skip(why)
