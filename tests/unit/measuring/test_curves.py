"""Cost plots: the Pareto front in files and in the report, and scaling curves of a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.helpers import make_project
from tests.served_runs import here_on
from tests.servers.scripted import scripted
from tests.unit.measuring.test_costs import PRICES, items, judged, knows
from workbench.app.cli import root
from workbench.core.project import Project
from workbench.measuring.accuracy import accuracy
from workbench.measuring.costs import cost_plot, costs
from workbench.measuring.studies import scaling_plots
from workbench.runs.verifying import start
from workbench.statistics.records.probe import SweepPoint, SweepReport
from workbench.tables.pictures import Curves


def test_accuracy_is_drawn_against_the_price_in_files_and_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "workbench.toml").write_text(PRICES)
    with scripted(knows) as server, here_on(make_project(tmp_path, items())) as runs:
        judged(runs, server.url, "one", "vanilla")
        judged(runs, server.url, "two", "codejudge")
        plot = cost_plot(costs(runs.project, against="calls"))
        assert plot is not None
        at = {dot.label.removeprefix("● "): dot.x for dot in plot.dots}
        assert at == {"one": 0.5, "two": 1.0}, "shares of what the dearest takes"
        assert "of 2" in plot.x_label
        leading = {row.verifier for row in costs(runs.project, against="calls").rows if row.leads}
        assert {dot.label.removeprefix("● ") for dot in plot.dots if dot.label.startswith("● ")} == leading
        path, folder = str(runs.project.path), tmp_path / "plots"
        pytest.importorskip("matplotlib")
        done = CliRunner().invoke(root, ["cost", path, "--figures", str(folder)])
        assert done.exit_code == 0, done.output
        assert {one.name for one in folder.iterdir()} == {"cost.svg", "cost.pdf", "cost.png"}
        assert "one" in (folder / "cost.svg").read_text()
        done = CliRunner().invoke(root, ["cost", path, "--figures", str(folder)])
        assert done.exit_code != 0, "files that are there stay"
        report = tmp_path / "report.html"
        done = CliRunner().invoke(root, ["report", path, "-o", str(report)])
        assert done.exit_code == 0, done.output
        text = report.read_text()
        assert "What verdicts take" in text
        section = text.partition('id="costs"')[2].partition("</section>")[0]
        assert "● one" in section or "● two" in section
        assert "<svg" in section
        assert ">seconds<" not in section, "a report of the same data is the same report"


def test_a_report_without_models_has_no_prices(tmp_path: Path) -> None:
    with here_on(make_project(tmp_path, items())) as runs:
        runs.work(start(runs.project, "exact", {}, "exact").run)
        report = tmp_path / "report.html"
        done = CliRunner().invoke(root, ["report", str(runs.project.path), "-o", str(report)])
        assert done.exit_code == 0, done.output
        assert "What verdicts take" not in report.read_text()
        assert cost_plot(costs(runs.project, against="calls")) is None, "one point is not a plot"


def swept(project: Project, *settings: dict[str, str]) -> SweepReport:
    (row, *_) = accuracy(project, verifiers=("exact",)).rows
    points = [
        SweepPoint(
            verifier=f"m/{number}",
            settings=one,
            run=number,
            state="complete",
            message=None,
            items=8,
            accuracy=None if one.get("rollouts") == "16" else row,
            consumption={},
        )
        for number, one in enumerate(settings)
    ]
    return SweepReport(judge="m", protocol="forced", gold_choice="final", points=points)


def drawn(report: SweepReport) -> dict[str, list[tuple[str, list[float]]]]:
    found: dict[str, list[tuple[str, list[float]]]] = {}
    for name, plot in scaling_plots(report):
        assert isinstance(plot, Curves)
        found[name] = [(line.label, [x for x, _ in line.points]) for line in plot.lines]
    return found


def test_scaling_curves_have_a_plot_per_setting_and_lines_for_the_others(tmp_path: Path) -> None:
    with here_on(make_project(tmp_path, items())) as runs:
        runs.work(start(runs.project, "exact", {}, "exact").run)
        project = runs.project
        one_by_one = [
            *({"rollouts": value} for value in ("8", "2", "16", "4")),
            *({"depth": value} for value in ("3", "9")),
            *({"selection": value} for value in ("uct", "uct+llm")),
            {"delta": "7"},
        ]
        assert drawn(swept(project, *one_by_one)) == {
            "scaling-rollouts": [("m", [2.0, 4.0, 8.0])],
            "scaling-depth": [("m", [3.0, 9.0])],
        }, "in order, without what isn't complete, words and single points"
        grid = [{"depth": depth, "selection": selection} for depth in ("3", "9") for selection in ("uct", "uct+llm")]
        assert drawn(swept(project, *grid)) == {
            "scaling-depth": [("selection=uct", [3.0, 9.0]), ("selection=uct+llm", [3.0, 9.0])]
        }
