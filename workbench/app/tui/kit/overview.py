"""The panels of the Home screen as text: states, data sets, people and runs, with bars for their progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.app.tui.kit.cells import fit
from workbench.core.run import RunInfo, RunState
from workbench.core.status import DatasetInfo, PersonProgress, Status
from workbench.core.text.figures import bar, compact_count, percent

if TYPE_CHECKING:
    from workbench.tables.document import Tone

STATE_MARKS: dict[str, tuple[str, Tone]] = {
    "unlabelled": ("·", "dim"),
    "labelled": ("◐", "accent"),
    "accepted": ("◇", "accent"),
    "needs type": ("◑", "warning"),
    "conflict": ("≠", "warning"),
    "final": ("✓", "success"),
    "excluded": ("⊘", "dim"),
}
"""Symbol and tone of each item state."""

RUN_MARKS: dict[RunState, tuple[str, Tone]] = {
    "queued": ("…", "dim"),
    "running": ("▶", "accent"),
    "paused": ("‖", "warning"),
    "cancelled": ("⊘", "dim"),
    "complete": ("✓", "success"),
    "failed": ("!", "error"),
}
"""Symbol and tone of each run state."""


def style_of(tone: Tone) -> str:
    """Return the style of a text with this tone."""
    return "$foreground-muted" if tone == "dim" else f"$text-{tone}"


NARROW = 53
"""Width of a panel in cells, on a terminal of 80 columns."""


def share(part: int, whole: int) -> float:
    """Return a part as a fraction of the whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0


def states_panel(status: Status, width: int = NARROW) -> Content:
    room = max(8, width - 36)
    lines = []
    for state, count in status.shown_states.items():
        (mark, tone), part = STATE_MARKS[state], share(count, status.items)
        drawn = (f"{mark} {state:<11}{bar(part, room)}", style_of(tone))
        lines.append(Content.assemble(drawn, f" {count:>10,} {percent(part):>6} %"))
    return _joined_lines(lines)


def datasets_panel(datasets: Sequence[DatasetInfo], width: int = NARROW) -> Content:
    """Return data sets with their sizes and, if there is room, the source of their answer types."""
    types = {"trusted": "types imported", "labelled": "types by annotators"}
    room = width - 37 - (17 if width > NARROW else 0)
    return _joined_lines(
        Content.assemble(
            (fit(info.name if info.out is None else f"⊘ {info.name}", room), "bold" if info.out is None else "dim"),
            f" {info.items:>9,} items {info.questions:>9,} questions",
            f"  {types[info.types]}" if width > NARROW and info.out is None else "",
            "  out" if width > NARROW and info.out is not None else "",
        )
        for info in datasets
    )


def people_panel(people: Sequence[PersonProgress], width: int = NARROW) -> Content:
    return _joined_lines(person_line(person, width) for person in people)


def person_line(person: PersonProgress, width: int = NARROW) -> Content:
    """Return one person's progress; for someone without items to label, only the conflicts they adjudicated."""
    whole = person.done + person.left + person.away
    names = 12 if width <= NARROW else 20
    conflicts = f"≠ {compact_count(person.conflicts)}" if person.conflicts else ""
    labels = f"{person.done:>6,} done {person.left:>6,} left"
    if person.types_left and not person.left:
        labels = f"{person.done:>6,} done {compact_count(person.types_left):>5} types"
    counts = {"resolved": person.settled, "accepted": person.accepted}
    settled = ", ".join(f"{compact_count(number)} {word}" for word, number in counts.items() if number)
    beside = [f"{compact_count(person.away)} in a bundle"] if person.away else []
    if not whole:
        part = share(person.settled, person.settled + person.conflicts)
        labels = (settled or ("" if person.conflicts else "nothing to do")).rjust(len(labels))
    else:
        part = share(person.done, whole)
        beside += [settled] if settled else []
    more = "".join(f"  {said}" for said in beside)
    return Content.assemble(
        (fit(f"‖ {person.name}" if person.paused else person.name, names), "bold"),
        " ",
        (bar(part, max(4, width - names - 33 - len(more))), "$text-success"),
        f" {labels} ",
        (f"{conflicts:>7}", "$text-warning"),
        (more, "$foreground-muted"),
    )


def runs_panel(runs: Sequence[RunInfo], width: int = NARROW) -> Content:
    lines = []
    for run in runs:
        lines.append(run_line(run, width))
        if run.message is not None and not run.writes and run.state in ("paused", "failed"):
            lines.append(Content.styled(fit(f"  ! {run.message}", max(20, width - 4)).rstrip(), "$text-error"))
    return _joined_lines(lines)


def run_line(run: RunInfo, width: int = NARROW) -> Content:
    mark, tone = RUN_MARKS[run.state]
    part = share(run.done, run.items)
    names = 12 if width <= NARROW else 20
    pace = f" {compact_count(round(run.rate))}/s" if run.rate else ""
    done = f"{percent(part, 0):>3} % {compact_count(run.done)}/{compact_count(run.items)}{pace}"
    return Content.assemble(
        (fit(run.verifier, names), "bold"),
        (f" {mark} {run.state:<9} ", style_of(tone)),
        (bar(part, max(4, width - names - 40)), style_of(tone)),
        f" {calls_words(run) if run.writes else done}",
    )


def calls_words(run: RunInfo) -> str:
    """Return the number of model calls, for a run that writes texts instead of verdicts."""
    calls = 0 if run.usage is None else run.usage.calls
    return f"{compact_count(calls)} call{'' if calls == 1 else 's'}"


def _joined_lines(lines: Iterable[Content]) -> Content:
    return Content("\n").join(list(lines))
