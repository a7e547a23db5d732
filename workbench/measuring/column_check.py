"""What ``doctor`` says of the columns beside the database."""

from __future__ import annotations

from pathlib import Path

from workbench.core.database import column_files
from workbench.core.health import Finding
from workbench.core.project import Project
from workbench.core.text.figures import counted
from workbench.measuring.column_memory import ColumnMemory


def column_finding(project: Project) -> Finding:
    """Whether each file that would be believed says what the database says.

    A file that is damaged, or of another history, is no harm: it is passed over, and written anew when it is needed.
    One that fits but differs would falsify figures: somebody has changed the database behind the program's back.
    """
    folder = column_files.folder(project.path)
    files = sorted(path for path in folder.glob("*") if not path.name.startswith("."))
    memory = ColumnMemory(project.database)
    states = {path.name: memory.agrees(column_files.run_of(path.name)) for path in files}
    wrong = [name for name, agrees in states.items() if agrees is False]
    if wrong:
        what = f"not what the database says: {', '.join(wrong)}. Somebody changed it; {folder} may be deleted"
        return Finding(name="columns", ok=False, message=what, remedy="repair")
    return Finding(name="columns", ok=True, message=_state(files, list(states.values())))


def _state(files: list[Path], states: list[bool | None]) -> str:
    if not files:
        return "none kept"
    size = sum(path.stat().st_size for path in files)
    passed_over = states.count(None)
    left = f"; {passed_over} damaged or of another history, passed over" if passed_over else ""
    return f"ok, {counted(len(files), 'part')} in {size / 2**20:.1f} MiB{left}"
