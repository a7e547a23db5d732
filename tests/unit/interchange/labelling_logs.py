"""Annotators' labels for the logs: completions of the sample data, whose gold is known."""

from __future__ import annotations

import json
from pathlib import Path

from tests.commands import Call
from tests.documents import ROOT

GOLD: dict[str, bool] = {
    row["completion"]: row["gold_correct"]
    for row in map(json.loads, (ROOT / "sample_data" / "tuples.jsonl").read_text(encoding="utf-8").splitlines())
}
"""Completion -> whether it is correct."""


def labelled(call: Call, database: Path, folder: Path) -> None:
    """Two people label every item as the sample data say."""
    call("export", database, folder / "items.jsonl", "--format", "jsonl")
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    labels = [
        {
            "completion_id": item["completion_id"],
            "annotator": name,
            "verdict": "correct" if GOLD[item["completion"]] else "incorrect",
        }
        for item in items
        for name in ("amira", "ben")
    ]
    (folder / "labels.jsonl").write_text("".join(json.dumps(label) + "\n" for label in labels))
    assert call("labels", database, "import", folder / "labels.jsonl")[0] == 0
