"""Record triage on the sample data, key by key, as one animated picture: ``make screenshot``."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from screenshot import HERE, self_contained

from workbench.app.demo import load_sample, verify_sample
from workbench.app.tui.app import WorkbenchApp
from workbench.app.tui.screens.triage import TriageScreen
from workbench.core.project import Project, open_project

SIZE = (88, 25)
SCRIPT: Sequence[tuple[str, str, float]] = (
    ("colon y enter", ":y goes to Accuracy", 2.0),
    ("down", "exact is weak", 2.0),
    ("m", "m: its wrong verdicts as cards", 3.5),
    ("1", "1: another text was taken", 3.0),
    ("2", "2: two forms of one answer", 3.0),
    ("right_square_bracket", "]: skip", 3.0),
    ("4", "4: units", 3.0),
    ("space", "space: all that differ alike", 3.5),
    ("2", "2: one cause for all of them", 3.0),
    ("d", "d: the paragraph and the table so far", 4.0),
)
"""Keys, what the picture's title says when they were pressed, and for how many seconds that is shown."""


class Frame(NamedTuple):
    """A screen as a picture, and for how long it is shown."""

    svg: str
    seconds: float


async def record(project: Project) -> list[Frame]:
    """Press the keys of the script, and keep what stands on the screen after each."""
    frames = []
    app = WorkbenchApp(project)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause()
        await app.workers.wait_for_complete()
        for keys, title, seconds in SCRIPT:
            await pilot.press(*keys.split())
            for _ in range(4):
                await pilot.pause()
                await app.workers.wait_for_complete()
            await pilot.pause()
            frames.append(Frame(self_contained(app.export_screenshot(title=title)), seconds))
        if not isinstance(app.screen, TriageScreen):
            raise SystemExit(f"The keys lead to {app.screen} now, not to triage: mend SCRIPT.")
    return frames


def animated(frames: Sequence[Frame]) -> str:
    """Pictures one after the other, without end; who does not animate sees the first."""
    box = re.search(r'viewBox="([^"]+)"', frames[0].svg)
    assert box is not None
    total, shown, rules, groups = sum(frame.seconds for frame in frames), 0.0, [], []
    for number, frame in enumerate(frames):
        begin, end = (f"{100 * at / total:.3f}%" for at in (shown, shown + frame.seconds))
        shown += frame.seconds
        hidden = "" if number == 0 else "0% { visibility: hidden } "
        rules.append(
            f"@keyframes frame-{number} {{ {hidden}{begin} {{ visibility: visible }} {end} {{ visibility: hidden }} }}"
        )
        rules.append(f".frame-{number} {{ animation: frame-{number} {total:g}s step-end infinite }}")
        visible = "visible" if number == 0 else "hidden"
        groups.append(f'<g class="frame-{number}" visibility="{visible}">\n{frame.svg}\n</g>')
    style = "\n".join(rules)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box[1]}">\n<style>\n{style}\n</style>\n'
        + "\n".join(groups)
        + "\n</svg>\n"
    )


def main() -> None:
    """Triage of what ``exact`` gets wrong on the sample."""
    with tempfile.TemporaryDirectory() as folder:
        project = open_project(Path(folder) / "sample.db", create=True)
        load_sample(project)
        verify_sample(project, lambda _: None)
        (HERE / "triage.svg").write_text(animated(asyncio.run(record(project))), encoding="utf-8")
        project.close()


if __name__ == "__main__":
    main()
