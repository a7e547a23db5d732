"""Where the logs of a project are."""

from __future__ import annotations

from pathlib import Path

from workbench.core.project import Project


def runner_log(project: Project) -> Path:
    """What the background runner writes."""
    from workbench.runs import launch

    return launch.log_path(project.path)


def app_log(project: Project) -> Path:
    """What the app writes when something went wrong in it."""
    return project.path.with_name(f"{project.path.name}.app.log")
