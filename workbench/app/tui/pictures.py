"""Pictures of the app's screens, saved next to the database."""

from __future__ import annotations

from itertools import count
from pathlib import Path

from workbench.core.errors import StoreError
from workbench.core.files import whole_file
from workbench.core.project import Project


def write_screenshot(project: Project, svg: str) -> Path:
    """Write a picture under an unused name; return its path.

    Raises:
        StoreError: The folder can't be written to.
    """
    for number in count(1):
        path = project.path.with_name(f"{project.path.stem}-screen-{number}.svg")
        try:
            with whole_file(path, replace=False) as file:
                file.write(svg.encode())
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(f"{path}: {error.strerror}.", "Is the folder of the database writable?") from error
        return path.resolve()
    raise AssertionError("there are no more free numbers")
