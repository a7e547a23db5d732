"""One version in two parts that share no file: what judges and trains, and the app that stands on it.

The root's pyproject.toml says all there is to say of them; its ``tool.workbench.core`` tells what is the core's.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).resolve().parent.parent
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CORE = WHOLE["tool"]["workbench"]["core"]


class PartMetadata(MetadataHookInterface):
    """The whole's metadata, with this part's requirements."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in what the part's own pyproject.toml leaves to the whole's."""
        whole: dict[str, Any] = WHOLE["project"]
        names = {line: re.split(r"[^\w.-]", line)[0] for line in whole["dependencies"]}
        of_core = metadata["name"] == CORE["name"]
        metadata["dependencies"] = [line for line in names if (names[line] in CORE["dependencies"]) == of_core]
        if of_core:
            metadata["entry-points"] = whole["entry-points"]
        else:
            metadata["dependencies"].insert(0, f"{CORE['name']}=={whole['version']}")
            metadata["scripts"] = whole["scripts"]
        extras = whole["optional-dependencies"]
        metadata["optional-dependencies"] = {name: extras[name] for name in extras if name != "dev"}
        metadata["readme"] = {"content-type": "text/markdown", "text": (ROOT / whole["readme"]).read_text("utf-8")}
        for field in ("version", "license", "requires-python", "keywords", "classifiers"):
            metadata[field] = whole[field]


class PartFiles(BuildHookInterface[Any]):
    """The part's own files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name them: a job is a folder, and whatever is not the core's is the app's."""
        of_core = self.metadata.name == CORE["name"]
        for path in sorted((ROOT / "workbench").iterdir()):
            if path.name != "__pycache__" and (path.name in CORE["files"]) == of_core:
                build_data["force_include"][str(path)] = f"workbench/{path.name}"
        if not of_core:
            build_data["force_include"][str(ROOT / "sample_data")] = "workbench/sample_data"
        build_data["extra_metadata"][str(ROOT / "LICENSE")] = "LICENSE"
