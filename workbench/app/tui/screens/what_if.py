"""What if a verifier had other options: fields to change, an item before and after, and changed verdicts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from functools import partial
from typing import ClassVar, Final

from msgspec import structs
from textual import on
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from workbench.app.tui.form import FormScreen
from workbench.app.tui.keymap import Action, key_of
from workbench.app.tui.kit.cells import printable
from workbench.app.tui.kit.choices import ChoiceMenu, choose
from workbench.app.tui.kit.option_field import OptionField, field_of
from workbench.app.tui.kit.sources import FixedSource
from workbench.app.tui.kit.title_bar import verdict_words
from workbench.app.tui.screens.template import TemplateScreen
from workbench.app.tui.sharing import share
from workbench.app.tui.table_screen import TableScreen
from workbench.app.tui.trusting import trusting
from workbench.core.options import Basis
from workbench.core.run import Estimate, RunInfo
from workbench.core.text.figures import NONE, counted, dollars
from workbench.data.records import ItemDetail
from workbench.measuring import browsing
from workbench.measuring.accuracy_items import AccuracyCell
from workbench.measuring.what_if import (
    FLIPPED,
    KINDS,
    Changeable,
    WhatIf,
    WhatIfOptions,
    changeable,
    coverage_words,
    save,
    sentence,
    type_words,
    what_if,
    what_if_as,
)
from workbench.runs.configuring import with_absolute_prompt_path
from workbench.runs.own_templates import ITS_OWN, TEMPLATE
from workbench.statistics.records.flips import WhatIfReport

SAMPLE: Final = 20
"""Number of items in the sample that can be sent to servers first."""
_WORK: Final = "what-if"
_NAME: Final = "name of the new verifier"
_FIRST: Final = "Change an option and try it: the changed verdicts, fixed and broken, appear here. Nothing is stored."


class WhatIfScreen(TableScreen, FormScreen):
    """Fields on the left, an item before and after on the right, changed verdicts below; enter opens an item.

    Args:
        verifier: The verifier, by its newest run.
        item: Row id of the initial item, which is among the items that servers judge first; None for no item.
        basis: Protocol, gold, and the conditions on the items.
    """

    TITLE_TEXT = "What if"
    PREFIX, ABOVE, ITEMS, REST_S = "what-if", ("said",), True, 0.2
    ACTIONS: ClassVar[tuple[Action, ...]] = (
        Action("what-if.try", "f3,ctrl+t", "try", "Try", "See which verdicts would change.", priority=True),
        Action("what-if.save", "f4,ctrl+r", "save", "Save", "Start a new verifier with these options.", priority=True),
        Action("what-if.open", "enter", "open_row", "Open", "Open the item under the cursor; on template, its text."),
        Action("what-if.export", "e", "export", "Export", "Export or copy the metrics, or the changed items."),
        Action("what-if.template", "", "template", "Template", "Edit the judge's template.", False),
        Action("what-if.next", "tab", "app.focus_next", "Next", "Go to the next field, or to the changed items."),
        Action("what-if.back", "escape,q", "back", "Back", "Stop the work, or go back."),
    )

    def __init__(self, verifier: str, item: int | None = None, basis: Basis | None = None) -> None:
        super().__init__()
        self.verifier, self.item, self.basis = verifier, item, basis or Basis()
        self.form: Changeable | None = None
        self.found: WhatIf | None = None
        self.shown: ItemDetail | None = None
        self._working = False

    @classmethod
    def of_cell(cls, cell: AccuracyCell, item: int | None = None) -> WhatIfScreen:
        """Return a screen for a cell's verifier, over the items of the whole table: a gain in one type may be a loss in
        another.
        """
        where = tuple(map(str, cell.conditions))
        return cls(cell.verifier, item, Basis(protocol=cell.protocol, gold=cell.gold, where=where))

    def heading(self) -> tuple[str, str]:
        return self.TITLE_TEXT, printable(self.verifier)

    def above(self) -> Iterator[Widget]:
        with Horizontal(id="what-if-above"):
            yield VerticalScroll(id="what-if-form", can_focus=False)
            yield VerticalScroll(Static(markup=False), id="what-if-item", can_focus=False)
        yield from super().above()
        yield Static(classes="form-trouble", markup=False)

    def on_mount(self) -> None:
        self.in_background(partial(changeable, self.project, self.verifier), self._show_fields, group="what-if-form")
        if self.item is not None:
            self._read_item(self.item)

    # -- the fields --------------------------------------------------------------------------------

    def _show_fields(self, form: Changeable) -> None:
        self.form = form
        basis = f"protocol {self.basis.protocol or self.workbench.settings.protocol} · gold {self.basis.gold}"
        self.say(f"{printable(self.verifier)} · run {form.run} · {basis}")
        if not form.options:
            self.query_one("#what-if-form").mount(Static("It has no options that could be changed.", markup=False))
            return
        self.run_worker(self._build(form), group="what-if-fields")

    async def _build(self, form: Changeable) -> None:
        fields = [field_of(option, form.values.get(option.name, "")) for option in form.options]
        await self.query_one("#what-if-form").mount_all(fields)
        self._hide_unused()
        if (template := self.field(TEMPLATE)) is not None:
            template.hint(f"{key_of('what-if.open')}: edit the text")
        fields[0].line.focus()
        if self.found is None and not self._working:
            self.put("said", _FIRST)

    @on(OptionField.Changed)
    def _hide_unused(self) -> None:
        assert self.form is not None
        values = self.values()
        used = {option.name for option in self.form.options if option.is_used(values)}
        for field in self.query(OptionField):
            field.display = field.option in used

    def entered(self, field: OptionField) -> None:
        if field.option == TEMPLATE:
            self.action_template()
        else:
            super().entered(field)

    @property
    def options(self) -> WhatIfOptions:
        assert self.form is not None
        before = self.form.values
        given = {name: value for name, value in self.values().items() if value != before.get(name, "")}
        if given.get(TEMPLATE):
            given = with_absolute_prompt_path(self.project, given)
        return WhatIfOptions(verifier=self.verifier, run=self.form.run, basis=self.basis, settings=given)

    # -- the template ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "template":
            return self.field(TEMPLATE) is not None
        return super().check_action(action, parameters)

    def action_template(self) -> None:
        assert self.form is not None
        changes = self.attempt(lambda: self.options.changes)
        if changes is None:
            return
        options = {key: value for key, value in (self.form.values | changes).items() if value}
        self.app.push_screen(TemplateScreen(self.form.kind, options, self.verifier, self.shown, self._take_template))

    def _take_template(self, file: str) -> None:
        for name, value in {**dict.fromkeys(ITS_OWN, ""), TEMPLATE: file}.items():
            if (field := self.field(name)) is not None:
                field.value = value
        self.action_try()

    # -- trying ------------------------------------------------------------------------------------

    def action_try(self, **more: object) -> None:
        if self.form is None or self._working:
            return
        options = self.attempt(lambda: structs.replace(self.options, **more))
        if options is None:
            return
        beside = () if self.item is None else (self.item,)

        def work(yes: bool) -> WhatIf:
            return what_if(self.project, structs.replace(options, trust=yes), beside)

        self.complain("")
        self.put("said", f"judging again … ({key_of('what-if.back')} stops it)")
        self._working = True
        trusting(self, work, self._show, group=_WORK, stops=True)

    def _show(self, found: WhatIf) -> None:
        self._working, self.found = False, found
        report = found.report
        said = filter(None, (sentence(report), type_words(report), *coverage_words(report)))
        self.put("said", Content("\n".join(map(printable, said))))
        self.table.set_source(FixedSource(FLIPPED, array("q", found.ids), found.rows, lambda row: row.id))
        self._show_item(self.shown)
        if found.report.needed is not None:
            self._ask_to_send(found.report, found.report.needed)

    def _ask_to_send(self, report: WhatIfReport, needed: Estimate) -> None:
        choices = {"": "Send nothing"}
        if not report.items.read:
            some = min(SAMPLE, needed.items)
            choices["sample"] = f"Send {counted(some, 'item')} first: {_takes(needed, some)}"
        choices["all"] = f"Send all of them: {_takes(needed, needed.items)}"

        def chosen(what: str) -> None:
            if what:
                self.action_try(ask=True, sample=SAMPLE if what == "sample" else None)

        choose(self, ChoiceMenu(f"No stored reply on {counted(needed.items, 'item')}", choices), chosen)

    def show_error(self, error: BaseException | None) -> None:
        self._working = False
        self.put("said", "")
        FormScreen.show_error(self, error)

    # -- the item ----------------------------------------------------------------------------------

    def highlighted(self, row: int) -> None:
        if self.focused is self.table:
            self._read_item(row)

    def _read_item(self, item: int) -> None:
        read = partial(browsing.detail, self.project, item, self.workbench.names_worked_under)
        self.in_background(read, self._show_item, group="what-if-item")

    def _show_item(self, item: ItemDetail | None) -> None:
        self.shown = item
        if item is not None:
            text = _item_text(item, self.verifier, self.found)
            self.query_one("#what-if-item Static", Static).update(text)

    def opened(self, row: int) -> None:
        from workbench.app.tui.screens.item import ItemScreen

        self.app.push_screen(ItemScreen(row, self.table.order, (self.verifier,)))

    def action_export(self) -> None:
        if (found := self.found) is not None:
            named = partial(found.named, len(found.ids))
            share(self, "what-if", lambda form: what_if_as(named(), form), named)

    # -- saving, leaving ---------------------------------------------------------------------------

    def action_save(self) -> None:
        if self.form is not None:
            self.ask_line(_NAME, self.verifier, self._save)

    def _save(self, name: str) -> None:
        options = self.attempt(lambda: structs.replace(self.options, save=name))
        if options is not None:
            trusting(self, lambda yes: save(self.project, options, trust=yes), self._saved, group="what-if-save")

    def _saved(self, run: RunInfo) -> None:
        self.line_stored(_NAME, self.verifier)
        self.notify(
            f"Run {run.run} is {run.state}: see Verifiers & runs.",
            title=f"{printable(run.verifier)} saved",
        )

    def action_back(self) -> None:
        if self._working:
            self.workers.cancel_group(self, _WORK)
            self._working = False
            self.put("said", "Stopped. All replies are stored.")
        else:
            self.workbench.action_go_back()


def _takes(needed: Estimate, items: int) -> str:
    share = items / needed.items
    money = "cost unknown" if needed.cost is None else f"at most {dollars(needed.cost * share)}"
    return f"about {counted(round(needed.calls * share), 'call')}, {money}"


def _item_text(item: ItemDetail, verifier: str, found: WhatIf | None) -> Content:
    verdict = next((one for one in item.verdicts if one.verifier == verifier), None)
    lines = [
        Content.assemble((printable(item.completion_id), "bold"), f"  {item.subtype or NONE}"),
        _verdict_line("gold", item.gold),
        _verdict_line("before", verdict.verdict, verdict.reason) if verdict else _verdict_line("before", None),
    ]
    if found is not None:
        change = found.change(item.id)
        lines.append(_verdict_line("after", change.after, change.reason))
        unchanged = "not judged again" if change.after is None else "the same"
        lines.append(Content(KINDS[change.kind] if change.kind else unchanged))
    if verdict is not None:
        lines.append(Content(f"reference: {printable(verdict.reference_final or NONE)}"))
        lines.append(Content(f"answer:    {printable(verdict.candidate_final or NONE)}"))
    lines.append(Content(printable(item.question[:_MAX_QUESTION])))
    return Content("\n").join(lines)


def _verdict_line(name: str, word: str | None, reason: str | None = None) -> Content:
    return Content.assemble(f"{name:<8}", verdict_words(word or "none"), f"  {printable(reason or '')}")


_MAX_QUESTION: Final = 600
"""Maximum characters of a shown question."""
