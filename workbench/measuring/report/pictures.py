"""The report's plots as files, one for each plot and format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, get_args

from workbench.core.errors import FormatError, opt
from workbench.core.selection import group_name
from workbench.data.formats.writing import new_file
from workbench.measuring.costs import cost_plot
from workbench.measuring.report.common import accuracy_of_all_plot, by_cell, own, rates_plot, sizes, verifier_name
from workbench.measuring.report.contents import Contents
from workbench.measuring.report.figures import calibration_plot, spread_plot, type_plots
from workbench.measuring.report.people import with_aliases
from workbench.statistics.records.agreement import AgreementReport
from workbench.statistics.records.report import AccuracyReport
from workbench.tables.document import Point
from workbench.tables.pictures import Coefficients, Heatmap, Picture, PictureFormat, draw_picture, require_matplotlib

FORMATS: Final[tuple[PictureFormat, ...]] = get_args(PictureFormat)
_MATRICES = ("type", "subtype", "domain")
_UNSAFE = re.compile(r"[^A-Za-z0-9]+")


def pictures(contents: Contents) -> Iterator[tuple[str, Picture]]:
    if not own(contents):
        return
    yield "accuracy", accuracy_of_all_plot(contents)
    if (errors := rates_plot(contents)) is not None:
        yield "errors", errors
    if contents.costs is not None and (priced := cost_plot(contents.costs)) is not None:
        yield "cost", priced
    for by in _MATRICES:
        if (report := contents.by.get(by)) is not None:
            yield f"accuracy-by-{by}", _type_heatmap(contents, by, report)
    if (report := contents.by.get("type")) is not None:
        for code, plot in type_plots(contents, report).items():
            yield f"accuracy-{_UNSAFE.sub('-', code)}", plot
    for place, found in enumerate(contents.scores, 1):
        # Two names may differ only in punctuation.
        name = f"{place}-{_UNSAFE.sub('-', found.verifier)[:40]}"
        yield f"scores-{name}", spread_plot(found)
        if found.probability:
            yield f"calibration-{name}", calibration_plot(found)
    if contents.agreement is not None and (points := tuple(_agreement_points(with_aliases(contents.agreement)))):
        caption = "Agreement between annotators, with its 95 % interval."
        yield "agreement", Coefficients(caption=caption, points=points)


def _type_heatmap(contents: Contents, by: str, report: AccuracyReport) -> Heatmap:
    cells, size = by_cell(report), sizes(report)
    groups = [*(group for group in size if group is not None), None]
    found = [[cells.get((row.verifier, group)) for group in groups] for row in own(contents)]
    return Heatmap(
        caption=f"Accuracy (%) by {by}, the less the darker; n in brackets.",
        rows=tuple(verifier_name(row) for row in own(contents)),
        columns=tuple(
            f"{'all' if group is None else group_name(group, by)} ({size.get(group, 0):,})" for group in groups
        ),
        cells=tuple(tuple(None if row is None else row.accuracy for row in line) for line in found),
    )


def _agreement_points(found: AgreementReport) -> Iterator[Point]:
    over_all = (
        ("Krippendorff’s alpha", found.krippendorff_alpha, found.alpha_ci),
        ("Gwet’s AC1", found.gwet_ac1, found.ac1_ci),
        ("Fleiss’ kappa", found.fleiss_kappa, found.fleiss_ci),
    )
    pairs = ((f"Cohen’s kappa, {' and '.join(one.pair)}", one.kappa, one.ci) for one in found.cohen_kappa)
    for label, value, ci in (*over_all, *pairs):
        if value is not None and ci is not None:
            yield Point(label, value, *ci)


def make_folder(folder: Path) -> None:
    """Make the folder of pictures if it doesn't exist.

    Raises:
        FormatError: The folder can't be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FormatError(f"{folder}: {error.strerror}.", "Name another folder.") from error


def write_plots(folder: Path, drawn: Iterable[tuple[str, Picture]], *, force: bool) -> list[Path]:
    """Write plots in every format to a folder, which is created unless there are no plots, and return the paths.

    Raises:
        UsageError: matplotlib is not installed.
        FormatError: One of the files exists and ``force`` is not set, or can't be written.
    """
    require_matplotlib()
    plots = list(drawn)
    if plots:
        make_folder(folder)
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
