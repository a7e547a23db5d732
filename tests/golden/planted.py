"""Plant changes in a copy of the checkout, one at a time, and check that golden detects each.

Usage: python -m tests.golden.planted
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.documents import ROOT


class Planted(NamedTuple):
    """A text replacement in one file, and a frozen group that must detect it."""

    what: str
    group: str
    file: str
    old: str
    new: str


CHANGES = (
    Planted(
        "a command's line of help",
        "commands-care",
        "workbench/app/verbs.py",
        "Count items, questions",
        "Sum items, questions",
    ),
    Planted("a command's name", "help", "workbench/app/verbs.py", '"status": ("opening"', '"state": ("opening"'),
    Planted(
        "a verb of a command",
        "help",
        "workbench/app/cli/sets.py",
        '{"list": 0, "show": 1, "diff": 2}',
        '{"list": 0, "diff": 2, "show": 1}',
    ),
    Planted("an exit code", "mistakes", "workbench/core/errors.py", "exit_code = 2", "exit_code = 3"),
    Planted("a suggestion", "mistakes", "workbench/core/errors.py", '(f"Did you mean', '(f"Do you mean'),
    Planted("a key", "actions", "workbench/app/tui/screens/sets.py", '"sets.diff", "|"', '"sets.diff", "D"'),
    Planted(
        "an action's label", "actions", "workbench/app/tui/screens/flags.py", '"hide", "Answered"', '"hide", "Done"'
    ),
    Planted(
        "an action's help",
        "actions",
        "workbench/app/tui/screens/flags.py",
        '"Read the flags again."',
        '"Load the flags."',
    ),
    Planted(
        "the order of actions",
        "actions",
        "workbench/app/tui/screens/flags.py",
        '"flags.open", "i", "open"',
        '"flags.view", "i", "open"',
    ),
    Planted(
        "a screen's title",
        "screens-80-dana",
        "workbench/app/tui/destinations.py",
        '"annotate", "a", "Annotate"',
        '"annotate", "a", "Label"',
    ),
    Planted(
        "a screen's letter",
        "screens-80-dana",
        "workbench/app/tui/destinations.py",
        '"annotate", "a", "Annotate"',
        '"annotate", "e", "Annotate"',
    ),
    Planted(
        "a figure",
        "tuples",
        "workbench/statistics/metrics/accuracy.py",
        "ratio(counts.tp + counts.tn, counts.n)",
        "ratio(counts.tp, counts.n)",
    ),
    Planted(
        "a sort order",
        "commands-benchmarks",
        "workbench/core/database/sets.py",
        "{_SETS} ORDER BY s.id",
        "{_SETS} ORDER BY s.id DESC",
    ),
    Planted(
        "a column's heading",
        "tuples",
        "workbench/tables/table.py",
        'heading="95 % interval", value',
        'heading="interval", value',
    ),
    Planted(
        "what a message says",
        "mistakes",
        "workbench/app/cli/__init__.py",
        'f"There is no command {name!r}. ',
        'f"Unknown command {name!r}. ',
    ),
    Planted("a default", "help", "workbench/benchmarks/options.py", "seed: DrawSeed = 0", "seed: DrawSeed = 1"),
    Planted(
        "a field of JSON",
        "commands-benchmarks",
        "workbench/benchmarks/records.py",
        "    bytes: int\n    notes: tuple",
        "    notes: tuple",
    ),
    Planted(
        "a status",
        "reward-server",
        "workbench/app/web/reward/gate.py",
        "return RequestRefused(400, f",
        "return RequestRefused(422, f",
    ),
    Planted(
        "what a judge is asked",
        "requests",
        "workbench/verifiers/judges/templates/verifybench@2.toml",
        "Final Judgment",
        "Last Judgment",
    ),
    Planted(
        "a table of workbench.toml",
        "settings",
        "workbench/runs/configuring.py",
        "save_verifier(path, name, kind",
        "save_verifier(path, name.upper(), kind",
    ),
)


def main() -> None:
    """Freeze an unchanged copy, then plant each change in it."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        copy = Path(place) / "copy"
        ignored = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=ignored)
        for group in dict.fromkeys(change.group for change in CHANGES):
            _freeze(copy, group)
        missed = [change.what for change in CHANGES if not _is_found(copy, change)]
    print(f"{len(CHANGES) - len(missed)} of {len(CHANGES)} found", *missed, sep="\n  missed: ")
    sys.exit(bool(missed))


def _is_found(copy: Path, change: Planted) -> bool:
    file = copy / change.file
    before = file.read_text(encoding="utf-8")
    assert change.old in before, change
    file.write_text(before.replace(change.old, change.new, 1), encoding="utf-8")
    frozen = copy / "tests" / "golden"
    frozen_files = {path: path.read_bytes() for path in frozen.glob(f"*/{change.group}.txt")}
    output = _freeze(copy, change.group)
    for path, content in frozen_files.items():
        path.write_bytes(content)
    file.write_text(before, encoding="utf-8")
    kinds = [kind for kind in ("VALUES", "WORDING") if f"{kind} of {change.group}" in output]
    print(f"{change.group}: {change.what}: {' and '.join(kinds) or 'NOT FOUND'}", flush=True)
    return bool(kinds)


def _freeze(copy: Path, group: str) -> str:
    command = [sys.executable, "-m", "tests.golden", group]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    # If collecting fails, the change is detected, too.
    return done.stdout if done.returncode == 0 else f"VALUES of {group}: {done.stderr[-300:]}"


if __name__ == "__main__":
    main()
