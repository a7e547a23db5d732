"""A published folder: datasets loads it, and a kill at any time leaves it complete or absent.

datasets is installed in a separate environment: DATASETS_PYTHON names its interpreter.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.publishing import freeze, publish_sample, sample_project

ROOT = Path(__file__).resolve().parents[2]
READ = ROOT / "tests" / "data" / "datasets" / "read.json"

pytestmark = pytest.mark.soak


def test_datasets_reads_the_folder(tmp_path: Path) -> None:
    python = os.environ.get("DATASETS_PYTHON")
    if python is None or shutil.which(python) is None:
        pytest.skip("DATASETS_PYTHON names no Python that has datasets")
    publish_sample(tmp_path / "out")
    script = ROOT / "tests" / "peers" / "datasets_peer.py"
    done = subprocess.run([python, script, tmp_path / "out"], capture_output=True, check=True, timeout=600)
    now, then = json.loads(done.stdout), json.loads(READ.read_bytes())
    assert now | {"read_by": None} == then | {"read_by": None}


def test_kill_leaves_a_complete_folder_or_none(tmp_path: Path) -> None:
    project = sample_project(tmp_path / "p.db")
    freeze(project)
    project.close()
    out = tmp_path / "out"
    command = [sys.executable, "-m", "workbench", "publish", str(project.path), "small", str(out), "--force"]
    cards: set[bytes] = set()
    for step in range(40):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
            time.sleep(0.05 * step)
            running.send_signal(signal.SIGKILL)
        if out.exists():
            checked = subprocess.run(["sha256sum", "-c", "--quiet", "checksums.txt"], cwd=out, check=False)
            assert checked.returncode == 0
            cards.add((out / "manifest.json").read_bytes())
    assert subprocess.run(command, check=False).returncode == 0
    assert cards <= {(out / "manifest.json").read_bytes()}
    assert not [path for path in tmp_path.glob(".out.*") if not path.name.endswith(".part")]
