"""Two annotators label twenty real rows concurrently in the real app: keys per label, and waits for items.

Their labels follow from the row, and the two disagree occasionally; sometimes they open the whole completion, mark a
wrong derivation, or undo a label and give another. All metrics come from the event log. The rows are those of
../shared/data, which are required.

Usage: python -m bench.annotating
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from bench.figures import left_out, median, p90, p95, report
from bench.terminal import Terminal, workbench
from workbench.core.project import Project, open_project
from workbench.labelling.people import assign

ROWS = Path(__file__).resolve().parents[2] / "shared" / "data" / "verifybench_hard_dev.jsonl"
PEOPLE = ("ann", "bob")
_ITEMS = 20
_READING_S = 0.5
_KEYS = {"correctness": 1, "type": 3}
"""Goals: one key per verdict, three per type."""


class LoggedLabel(NamedTuple):
    """One label of the event log.

    Attributes:
        keys: The keys of this label alone: for a type, those after the item's verdict.
    """

    task: str
    keys: int
    wait_ms: int | None


def main() -> None:
    """Label and print."""
    if not ROWS.is_file():
        left_out("annotating", "the folder of real rows, ../shared/data, is not here")
        return
    with tempfile.TemporaryDirectory() as folder:
        project = _project(Path(folder))
        with ThreadPoolExecutor(len(PEOPLE)) as pool:
            list(pool.map(lambda person: _label_all(project, person), range(len(PEOPLE))))
        _report(logged_labels(project))
        project.close()


def _project(folder: Path) -> Project:
    """Create a project with the first rows, without their types, so that annotators are asked for them."""
    rows = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()[:_ITEMS]]
    source = folder / "rows.jsonl"
    untyped = [{key: row[key] for key in row if key not in ("answer_type", "answer_subtype")} for row in rows]
    source.write_text("\n".join(map(json.dumps, untyped)), encoding="utf-8")
    path = folder / "rows.db"
    subprocess.run(workbench("import", str(path), str(source)), check=True, capture_output=True)
    project = open_project(path)
    assign(project, PEOPLE, per_item=len(PEOPLE))
    return project


# -- One annotator


def _label_all(project: Project, person: int) -> None:
    truth = {row["completion_id"]: row for row in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines())}
    size = ((80, 24), (120, 40))[person]
    with Terminal(workbench("open", str(project.path), "--as", PEOPLE[person]), *size) as terminal:
        terminal.until_text("Annotate")
        terminal.go_to("a")
        terminal.until_text("Incorrect")
        typed: set[str] = set()
        for number in range(_ITEMS):
            row = truth[_at_hand(project, person)]
            _read(terminal)
            for keys in _script(row, number, person, wants_type=row["question_id"] not in typed):
                terminal.send(keys)
                _read(terminal)
            typed.add(row["question_id"])


def _at_hand(project: Project, person: int) -> str:
    """Return the id of the completion on the annotator's screen: the oldest one assigned to them."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        row = (
            project.database.reader()
            .execute(
                "SELECT c.key FROM assignments AS a JOIN completions AS c ON c.id = a.subject "
                "JOIN annotators AS p ON p.id = a.annotator_id WHERE p.name = ? AND a.task = 'correctness' "
                "AND a.state = 'leased' ORDER BY a.claimed_at, a.position LIMIT 1",
                (PEOPLE[person],),
            )
            .fetchone()
        )
        if row is not None:
            return str(row[0])
        time.sleep(0.01)
    raise TimeoutError("no item came")


def _script(row: dict[str, Any], number: int, person: int, *, wants_type: bool) -> list[str]:
    """Return the annotator's keys for a row, in steps.

    Args:
        wants_type: The question's type is missing, so the app asks for it after the verdict.
    """
    letter, digit = row["answer_type"][:2].lower()
    if (number + person) % 7 == 3:
        digit = "1"
    right = bool(row["gold_correct"]) != ((number + 2 * person) % 5 == 4)
    verdict = "1" if right else "0"
    keys = [verdict, letter, digit] if wants_type else [verdict]
    if number % 4 == 1:
        keys = ["C", "escape", *keys]
    if number % 6 == 2:
        keys = ["m", "1", *keys]
    if number % 7 == 4 and wants_type:
        keys = [*keys, "z", "t", letter, digit]
    return keys


def _read(terminal: Terminal) -> None:
    """Wait for the screen, plus the time of a fast reader."""
    with suppress(TimeoutError):
        terminal.until_quiet(quiet=_READING_S, first=_READING_S)


# -- Metrics


def logged_labels(project: Project) -> list[LoggedLabel]:
    """Return every label in the log."""
    rows = project.database.reader().execute(
        "SELECT e.task, e.keys, e.wait_ms, e.annotator_id, coalesce(c.question_id, e.subject) FROM label_events AS e "
        "LEFT JOIN completions AS c ON c.id = e.subject AND e.task = 'correctness' "
        "WHERE e.kind = 'label' AND e.keys IS NOT NULL ORDER BY e.annotator_id, e.id"
    )
    found: list[LoggedLabel] = []
    before: tuple[str, int, int, int] | None = None
    for task, keys, wait_ms, person, question in rows:
        follows = before is not None and before[0] != task and before[2:] == (person, question) and before[1] < keys
        found.append(LoggedLabel(task, keys - before[1] if follows and before is not None else keys, wait_ms))
        before = (task, keys, person, question)
    return found


def _report(labels: Sequence[LoggedLabel]) -> None:
    for task, goal in _KEYS.items():
        of_task = [label for label in labels if label.task == task]
        keys = [label.keys for label in of_task]
        report(f"annotating_{task}_labels", len(of_task), "labels")
        report(f"annotating_{task}_keys_median", median(keys), "keys", goal)
        report(f"annotating_{task}_keys_p90", p90(keys), "keys")
    waits = [label.wait_ms for label in labels if label.task == "correctness" and label.wait_ms is not None]
    report("annotating_wait_median", median(waits), "ms")
    report("annotating_wait_p95", p95(waits), "ms", 100)
    report("annotating_wait_max", max(waits), "ms")


if __name__ == "__main__":
    main()
