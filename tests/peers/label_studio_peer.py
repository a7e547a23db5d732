"""Run by a Python that has label-studio-sdk, never imported here: reads our export and writes what Label Studio would.

python label_studio_peer.py check CONFIG TASKS     every task and annotation is valid under the configuration
python label_studio_peer.py convert CONFIG TASKS FOLDER FORMAT
python label_studio_peer.py label CONFIG TASKS OUT  annotations made with the SDK alone, as two of its users would
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from label_studio_sdk.converter import Converter  # type: ignore[import-not-found]
from label_studio_sdk.label_interface import LabelInterface  # type: ignore[import-not-found]


def check(config: str, tasks: list[dict[str, Any]]) -> None:
    interface = LabelInterface(config)
    interface.validate()
    for task in tasks:
        assert interface.validate_task({"data": task["data"]}), task["id"]
        for annotation in task["annotations"]:
            assert interface.validate_annotation(annotation), (task["id"], annotation)


def label(config: str, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    interface = LabelInterface(config)
    made = []
    for number, task in enumerate(tasks, 1):
        annotations = []
        for user in (7, 8):
            verdict: dict[str, Any] = {
                "verdict": "unsuitable" if number == 2 else "correct" if number % 2 or user == 8 else "incorrect",
                "answer_subtype": "B1",
            }
            if number == 2:
                verdict["reason"] = "open_ended"
            if user == 8:
                verdict |= {"tags": ["guessed", "degenerate"], "note": "Said there. [b]not markup[/b]"}
            annotations.append(
                {
                    "id": number * 10 + user,
                    "completed_by": {"id": user, "email": f"user{user}@example.org", "first_name": "", "last_name": ""},
                    "result": [region._dict() for region in interface.create_regions(verdict)],
                    "was_cancelled": number == 3 and user == 8,
                    "ground_truth": False,
                    "created_at": f"2025-04-01T10:{number:02}:00.000000Z",
                    "updated_at": f"2025-04-01T10:{number:02}:30.000000Z",
                    "lead_time": 12.5,
                }
            )
        made.append({"id": number, "data": task["data"], "meta": {}, "annotations": annotations, "predictions": []})
    return made


def main() -> None:
    verb, config_file, tasks, *rest = sys.argv[1:]
    config = Path(config_file).read_text()
    if verb == "convert":
        Converter(config, project_dir=None).convert(tasks, rest[0], rest[1], is_dir=False)
        return
    read = json.loads(Path(tasks).read_text())
    if verb == "check":
        check(config, read)
    else:
        Path(rest[0]).write_text(json.dumps(label(config, read), ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
