"""``python -m tests.auditing DB``: recount a project's metrics and print those that differ."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.auditing.auditing import audit
from workbench.core.project import open_project

if __name__ == "__main__":
    report = audit(open_project(Path(sys.argv[1])))
    for family in report.families:
        print(f"{family.family}: {family.figures} figures, {family.differences} differ. {family.reason or ''}")
    for one in report.differences:
        print(f"{one.family}: {one.figure}: {one.shown} shown, {one.plain} recounted")
    sys.exit(3 if report.differences else 0)
