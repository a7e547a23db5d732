"""One run in full: who works on it, verdicts, reasons, message, log."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from workbench.model.calls import RunCosts
from workbench.model.run import ACTIVE, RunInfo
from workbench.services.logs import runner_log
from workbench.services.running.run_costs import run_costs
from workbench.services.running.verifying import run_info
from workbench.tui.live import LiveScreen
from workbench.tui.widgets import run_view
from workbench.tui.widgets.footer import Footer
from workbench.tui.widgets.title_bar import TitleBar


class RunDetailScreen(LiveScreen):
    """The facts of one run, kept up to date while it goes on."""

    CSS_PATH = "run_detail.tcss"
    TITLE_TEXT = "Run"

    def __init__(self, run: int) -> None:
        super().__init__()
        self.run_number = run
        self._info: RunInfo | None = None

    def compose(self) -> ComposeResult:
        """Lay out."""
        yield TitleBar("Run", str(self.run_number))
        with VerticalScroll(id="run-detail"):
            yield Static("…", markup=False)
        yield Footer()

    def read(self) -> tuple[RunInfo, RunCosts]:
        """Count the run's verdicts."""
        info = run_info(self.project, self.run_number)
        return info, run_costs(self.project, info)

    def show(self, data: tuple[RunInfo, RunCosts]) -> None:
        """Fill in the facts."""
        self._info, costs = data
        text = run_view.details(self._info, costs, str(runner_log(self.project)))
        self.query_one("#run-detail Static", Static).update(text)

    def must_read(self) -> bool:
        """A process may die without writing anything."""
        return self._info is not None and self._info.state in ACTIVE
