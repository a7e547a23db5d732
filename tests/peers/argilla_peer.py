"""Run by a Python that has argilla, never imported here: reads records into its own classes and writes them again.

python argilla_peer.py again RECORDS OUT   what ``records.to_json`` makes of a file
python argilla_peer.py label RECORDS OUT   with responses made with its classes alone, as two of its users would
"""

from __future__ import annotations

import sys
from typing import Any
from uuid import UUID

from argilla import Record, Response  # type: ignore[import-not-found]
from argilla.records._io import JsonIO  # type: ignore[import-not-found]


def labelled(number: int, record: Any) -> Any:
    made = Record(id=record.id, fields=dict(record.fields), metadata=dict(record.metadata))
    for user in (7, 8):
        verdict: dict[str, Any] = {
            "verdict": "unsuitable" if number == 2 else "correct" if number % 2 or user == 8 else "incorrect",
            "answer_subtype": "B1",
        }
        if number == 2:
            verdict["reason"] = "open_ended"
        if user == 8:
            verdict |= {"tags": ["guessed", "degenerate"], "note": "Said there. [b]not markup[/b]"}
        for name, value in verdict.items():
            made.responses.add(Response(name, value, user_id=UUID(int=user), status="submitted"))
    return made


def main() -> None:
    verb, source, target = sys.argv[1:]
    records = JsonIO._records_from_json(source)
    if verb == "label":
        records = [labelled(number, record) for number, record in enumerate(records, 1)]
    JsonIO.to_json(records, target)


if __name__ == "__main__":
    main()
