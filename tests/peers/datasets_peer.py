"""Run by a Python that has datasets and huggingface_hub, never imported here: what they read of a published folder.

python datasets_peer.py FOLDER   one JSON document on standard output
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import datasets  # type: ignore[import-not-found,unused-ignore]
import huggingface_hub  # type: ignore[import-not-found,unused-ignore]
import yaml


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def row_text(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def config(folder: str, name: str, cache: str) -> dict[str, Any]:
    """Return what ``load_dataset`` returns."""
    found = datasets.load_dataset(folder, name, split="test", cache_dir=cache)
    rows = [row_text(row) for row in found]
    return {
        "num_rows": found.num_rows,
        "features": {key: value.dtype for key, value in found.features.items()},
        "first_row": digest(rows[0]),
        "rows": digest("\n".join(rows)),
    }


def read(folder: str) -> dict[str, Any]:
    """Return the front matter as two readers read it, and every configuration; the first is the default one."""
    text = (Path(folder) / "README.md").read_text(encoding="utf-8")
    header = text.split("\n---\n")[0].removeprefix("---\n")
    card = huggingface_hub.DatasetCard(text)
    names = datasets.get_dataset_config_names(folder)
    with tempfile.TemporaryDirectory() as cache:
        unnamed = datasets.load_dataset(folder, split="test", cache_dir=cache)
        configs = {name: config(folder, name, cache) for name in names}
    return {
        "read_by": {"datasets": datasets.__version__, "huggingface_hub": huggingface_hub.__version__},
        "front_matter": digest(header),
        "yaml_agrees": yaml.safe_load(header) == card.data.to_dict(),
        "card": card.data.to_dict(),
        "unnamed": unnamed.config_name,
        "configs": configs,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(read(sys.argv[1]), indent=2, ensure_ascii=False) + "\n")
