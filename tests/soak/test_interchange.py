"""The real rows survive a round trip through Label Studio's SDK and Argilla's classes.

Both are installed in separate environments: LABEL_STUDIO_PYTHON and ARGILLA_PYTHON name their interpreters.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from tests.studio_config import CONFIG
from workbench.core.project import Project, open_project
from workbench.interchange.exporting import ExportOptions, export
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.label_export import current_lines
from workbench.labelling.labels import import_labels

PEERS = Path(__file__).resolve().parents[1] / "peers"
SAID = ('"correct"', '"incorrect"', '"unsuitable", "reason": "proof"', '"correct", "note": "[b]<i>*so*</i>[/b]"')


def peer(variable: str, script: str, *arguments: object) -> None:
    python = os.environ.get(variable)
    if python is None or shutil.which(python) is None:
        pytest.skip(f"{variable} names no Python that has the tool")
    subprocess.run([python, PEERS / script, *map(str, arguments)], check=True, timeout=600)


@pytest.fixture
def home(tmp_path: Path, real_file: Path) -> Project:
    """Create a project with the real rows, each labelled by two annotators."""
    project = open_project(tmp_path / "home.db", create=True)
    import_files(project, plan_import([real_file]), dataset="hard")
    keys = project.database.reader().execute("SELECT key FROM completions ORDER BY id").fetchall()
    lines = [
        f'{{"completion_id": "{key}", "annotator": "{name}", "created_at": "2025-05-0{day}T00:00:00Z", '
        f'"verdict": {label}}}'
        for day, name in ((1, "ann"), (2, "bob"))
        for (key,), label in zip(keys, cycle(SAID[: day + 2]), strict=False)
    ]
    (tmp_path / "labels.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert import_labels(project, tmp_path / "labels.jsonl").imported == 2 * len(keys)
    return project


def require_same(home: Project, folder: Path, file: Path, real_file: Path) -> None:
    """Check that a new project made from the file has the same items, byte for byte, and the same labels."""
    again = open_project(folder / "again.db", create=True)
    import_files(again, plan_import([file]), dataset="hard")
    assert import_labels(again, file).refused == 0
    export(again, ExportOptions(file=folder / "again.jsonl", format="verifybench", gold="imported"))
    assert (folder / "again.jsonl").read_bytes() == real_file.read_bytes()
    assert _labels(again) == _labels(home)
    assert import_labels(home, file).imported == 0


def _labels(project: Project) -> list[Any]:
    return sorted(current_lines(project), key=lambda line: str(line.uuid))


@pytest.mark.soak
@pytest.mark.real_data
def test_real_rows_survive_label_studio(home: Project, tmp_path: Path, real_file: Path) -> None:
    tasks, config = tmp_path / "tasks.json", tmp_path / "config.xml"
    config.write_text(CONFIG, encoding="utf-8")
    export(home, ExportOptions(file=tasks, format="label-studio", names=True, sighted=True))
    peer("LABEL_STUDIO_PYTHON", "label_studio_peer.py", "check", config, tasks)
    for kind in ("JSON", "CSV"):
        peer("LABEL_STUDIO_PYTHON", "label_studio_peer.py", "convert", config, tasks, tmp_path / kind, kind)
    require_same(home, tmp_path, tmp_path / "JSON" / "result.json", real_file)


@pytest.mark.soak
@pytest.mark.real_data
def test_real_rows_survive_argilla(home: Project, tmp_path: Path, real_file: Path) -> None:
    export(home, ExportOptions(file=tmp_path / "records.json", format="argilla", names=True, sighted=True))
    peer("ARGILLA_PYTHON", "argilla_peer.py", "again", tmp_path / "records.json", tmp_path / "out.json")
    require_same(home, tmp_path, tmp_path / "out.json", real_file)
