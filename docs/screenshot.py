"""Take the README's pictures from the real app on the sample data: ``make screenshot``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from pathlib import Path

from workbench.services.demo import load_sample, verify_sample
from workbench.services.people import assign
from workbench.services.project import Project, open_project
from workbench.tui.app import WorkbenchApp

HERE = Path(__file__).resolve().parent
SIZE = (110, 32)


async def take(project: Project, annotator: str | None, screen: str, name: str) -> None:
    """Open one screen and save what it shows as ``docs/NAME.svg``."""
    app = WorkbenchApp(project, annotator)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        app.open_screen(screen)
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
    """Accuracy as the coordinator sees it, and Annotate as an annotator does."""
    with tempfile.TemporaryDirectory() as folder:
        project = open_project(Path(folder) / "sample.db", create=True)
        load_sample(project)
        verify_sample(project, lambda _: None)
        assign(project, ["amira", "ben", "eve"], per_item=2)
        asyncio.run(take(project, None, "accuracy", "accuracy"))
        asyncio.run(take(project, "eve", "annotate", "annotate"))
        project.close()


if __name__ == "__main__":
    main()
