"""Take the README's pictures from the real app on the sample data: ``make screenshot``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from textual.screen import Screen

from workbench.app.demo import load_sample, sample_folder, verify_sample
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screens.accuracy import AccuracyScreen
from workbench.app.tui.screens.add_judge import AddJudgeScreen
from workbench.app.tui.screens.agreement import AgreementScreen
from workbench.app.tui.screens.annotate import AnnotateScreen
from workbench.app.tui.screens.code_problem import CodeProblemScreen
from workbench.app.tui.screens.disagreements import DisagreementsScreen
from workbench.app.tui.screens.item import ItemScreen
from workbench.core.project import Project, open_project
from workbench.core.selection import Selection
from workbench.interchange.importing import import_files, plan_import
from workbench.labelling.labels import import_labels
from workbench.labelling.people import assign
from workbench.measuring.browsing import find
from workbench.runs.run_status import wait
from workbench.runs.verifying import start

HERE = Path(__file__).resolve().parent
SIZE = (120, 30)

CONVERTED = "f74bd5971eec23a6c28af533e2cff8ad"
"""A completion of the sample: its answer is the reference's in another unit."""


async def take(project: Project, annotator: str | None, screen: Screen[None], name: str) -> None:
    """Show one screen and save what it shows as ``docs/NAME.svg``."""
    app = WorkbenchApp(project, annotator)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.push_screen(screen)
        for _ in range(4):
            await pilot.pause()
            await app.workers.wait_for_complete()
        await pilot.pause()
        (HERE / f"{name}.svg").write_text(self_contained(app.export_screenshot(title="workbench")), encoding="utf-8")


def self_contained(svg: str) -> str:
    """The picture with the viewer's own monospace font instead of one fetched from elsewhere."""
    without_fonts = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL)
    return without_fonts.replace("Fira Code", "DejaVu Sans Mono, Menlo, Consolas")


def main() -> None:
    """What the coordinator sees of accuracy, a verdict's evidence, disagreements and the form for a judge; an
    annotator's Annotate; Agreement on the sample's labels; a code problem's pass matrix."""
    with tempfile.TemporaryDirectory() as folder:
        project = open_project(Path(folder) / "sample.db", create=True)
        load_sample(project)
        verify_sample(project, lambda _: None)
        assign(project, ["amira", "ben", "eve"], per_item=2)
        (converted,) = find(project, CONVERTED)
        asyncio.run(take(project, None, AccuracyScreen(), "accuracy"))
        asyncio.run(take(project, None, ItemScreen(converted, (), ("rules", "math-verify")), "evidence"))
        asyncio.run(take(project, None, DisagreementsScreen(), "disagreements"))
        asyncio.run(take(project, None, AddJudgeScreen(), "add-judge"))
        asyncio.run(take(project, "eve", AnnotateScreen(), "annotate"))
        import_labels(project, HERE.parent / "sample_data" / "labels.jsonl")
        asyncio.run(take(project, None, AgreementScreen(), "agreement"))
        project.close()
    with tempfile.TemporaryDirectory() as folder:
        project = open_project(Path(folder) / "code.db", create=True)
        files = [sample_folder() / f"code_{name}.jsonl" for name in ("problems", "solutions")]
        import_files(project, plan_import(files), dataset="sample")
        wait(project, start(project, "execution", {"suite": "base"}, None, Selection(), None).run)
        asyncio.run(take(project, None, CodeProblemScreen(1), "code"))
        project.close()


if __name__ == "__main__":
    main()
