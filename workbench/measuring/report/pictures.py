"""The report's plots as files, one for each plot and format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from workbench.core.errors import FormatError, opt
from workbench.data.formats.writing import new_file
from workbench.measuring.costs import cost_plot
from workbench.measuring.report.common import accuracy_of_all_plot, own, rates_plot
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.figures import calibration_plot, spread_plot, type_plots
from workbench.tables.pictures import Picture, PictureFormat, draw_picture, require_matplotlib

FORMATS: Final[tuple[PictureFormat, ...]] = get_args(PictureFormat)
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def pictures(contents: Contents) -> Iterator[tuple[str, Picture]]:
    if not own(contents):
        return
    yield "accuracy", accuracy_of_all_plot(contents)
    if (errors := rates_plot(contents)) is not None:
        yield "errors", errors
    if contents.costs is not None and (priced := cost_plot(contents.costs)) is not None:
        yield "cost", priced
    if (report := contents.by.get("type")) is not None:
        for code, plot in type_plots(contents, report).items():
            yield f"accuracy-{_UNSAFE.sub('-', code)}", plot
    for place, found in enumerate(contents.scores, 1):
        # Two names may differ only in punctuation.
        name = f"{place}-{_UNSAFE.sub('-', found.verifier)[:40]}"
        yield f"scores-{name}", spread_plot(found)
        if found.probability:
            yield f"calibration-{name}", calibration_plot(found)


def write_plots(folder: Path, drawn: Iterable[tuple[str, Picture]], *, force: bool) -> list[Path]:
    """Write plots in every format to a folder, which is created unless there are no plots, and return the paths.

    Raises:
        UsageError: matplotlib is not installed.
        FormatError: One of the files exists and ``force`` is not set, or the folder or a file can't be written.
    """
    require_matplotlib()
    plots = list(drawn)
    try:
        if plots:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: {error.strerror}.", "Name another folder.") from error
    return write_pictures(folder, plots, force=force)


def write_pictures(folder: Path, drawn: Iterable[tuple[str, Picture]], *, force: bool) -> list[Path]:
    """Write every picture in every format and return the paths.

    Raises:
        FormatError: One of the files exists and ``force`` is not set, or can't be written.
    """
    found: Mapping[str, Picture] = dict(drawn)
    paths = {(name, format): folder / f"{name}.{format}" for name in found for format in FORMATS}
    if not force and (there := next((path for path in paths.values() if path.exists()), None)):
        raise FormatError(f"{there} exists.", f"Use {opt.force} to replace it.")
    made = [
        (paths[name, format], content)
        for name, one in found.items()
        for format, content in draw_picture(one, FORMATS).items()
    ]
    new = [path for path, _ in made if not path.exists()]
    try:
        for path, content in made:
            with new_file(path, force=force) as file:
                file.write(content)
    except FormatError:
        # Write all of them or none: a partial set would look complete.
        for path in new:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            folder.rmdir()
        raise
    return list(paths.values())
