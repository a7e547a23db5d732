"""Writes a table as text: aligned for a terminal, as CSV, as LaTeX (booktabs). Also a plot as text, one
bar per value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from textwrap import fill

from workbench.core.text.figures import NONE, bar, padded, width
from workbench.core.text.inert import inert
from workbench.tables.document import Cell, Head, Lines, Table, percentage

_WIDTH = 100
_INDENT = "  "

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

_BAR = 40
"""Cells of the longest bar."""


def plain_table(table: Table) -> str:
    """Return the table with aligned columns, the caption above and the notes below; control characters are made
    visible.
    """
    caption = fill(inert(table.caption), _WIDTH)
    notes = [fill(inert(note), _WIDTH, subsequent_indent=_INDENT) for note in table.notes]
    body = ["", *body_lines(table)] if table.rows else []
    return "\n".join([caption, *body, *(["", *notes] if notes else [])]) + "\n"


def body_lines(table: Table) -> list[str]:
    rows = [row for row in table.rows if row.kind != "section"]
    small = [max((width(inert(row.cells[place].small)) for row in rows), default=0) for place in _column_indexes(table)]
    texts = [
        [_with_small(cell, small[place], left=place < table.left) for place, cell in enumerate(cells)]
        for cells in (map(_head_cell, table.head[-1]), *(row.cells for row in rows))
    ]
    widths = [max(map(width, column)) for column in zip(*texts, strict=True)]
    over = [_shared_headings(line, widths) for line in table.head[:-1]]
    head, *aligned = (_align_line(line, widths, table.left) for line in texts)
    left = iter(aligned)
    return [*(*over, head), *(inert(row.cells[0].text) if row.kind == "section" else next(left) for row in table.rows)]


def _head_cell(heading: Head) -> Cell:
    return Cell(heading.text)


def _shared_headings(line: Sequence[Head], widths: list[int]) -> str:
    parts, at = [], 0
    for heading in line:
        text = inert(heading.text)
        room = sum(widths[at : at + heading.span]) + len(_INDENT) * (heading.span - 1)
        missing = max(width(text) - room, 0)
        widths[at + heading.span - 1] += missing
        before = (room + missing - width(text)) // 2
        parts.append(" " * before + text + " " * (room + missing - width(text) - before))
        at += heading.span
    return _INDENT.join(parts).rstrip()


def csv_table(table: Table) -> str:
    """Return the table as CSV, with extra columns for small print and for sections.

    Texts that a spreadsheet would read as a formula get a leading apostrophe; see `escape_csv_text`.
    """
    small = [
        any(len(row.cells) > place and row.cells[place].small for row in table.rows) for place in _column_indexes(table)
    ]
    sections = any(row.kind == "section" for row in table.rows)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    head = [
        name for place, name in enumerate(table.columns) for name in ([name, f"{name} +/-"] if small[place] else [name])
    ]
    writer.writerow([*(["section"] if sections else []), *map(escape_csv_text, head)])
    under = ""
    for row in table.rows:
        if row.kind == "section":
            under = escape_csv_text(row.cells[0].text)
            continue
        cells = [
            escape_csv_text(part.strip()) if place < table.left else _plain_number(part)
            for place, cell in enumerate(row.cells)
            for part in ([cell.text, cell.small] if small[place] else [cell.text])
        ]
        writer.writerow([*([under] if sections else []), *cells])
    return buffer.getvalue()


def escape_csv_text(words: str) -> str:
    """Escape a text for a CSV cell, so that it is neither a formula for a spreadsheet nor a control sequence for a
    terminal.
    """
    shown = inert(words)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def latex_table(table: Table) -> str:
    """Return the table as LaTeX for the package ``booktabs``; data is escaped."""
    count = len(table.columns)
    aligned = "l" * table.left + "r" * (count - table.left)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_escape_latex(table.caption)}}}"]
    lines += [rf"\label{{{table.label}}}"] if table.label else []
    lines += [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule"]
    for line in table.head:
        lines.append(_latex_row(map(_latex_head, line)))
        lines += _heading_rules(line)
    lines.append(r"\midrule")
    for row in table.rows:
        if row.kind == "section":
            lines.append(rf"\multicolumn{{{count}}}{{l}}{{\textit{{{_escape_latex(row.cells[0].text)}}}}} \\")
        else:
            cells = [_latex_cell(cell) for cell in row.cells]
            lines.append(_latex_row(rf"\textbf{{{cell}}}" if row.kind == "total" else cell for cell in cells))
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {_escape_latex(note)}" for note in table.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _column_indexes(table: Table) -> range:
    return range(len(table.columns))


def _with_small(cell: Cell, room: int, *, left: bool) -> str:
    text, small = inert(cell.text), inert(cell.small)
    if not room:
        return text
    if left:
        return f"{text} {small}".rstrip()
    return f"{text} {' ' * (room - width(small))}{small}"


def _align_line(line: Sequence[str], widths: Sequence[int], left: int) -> str:
    cells = enumerate(zip(line, widths, strict=True))
    return _INDENT.join(padded(text, room, left=place < left) for place, (text, room) in cells).rstrip()


def _plain_number(text: str) -> str:
    bare = text.strip()
    number = bare.replace(",", "").replace("\u2212", "-")
    return number if _is_number(number) else "" if bare == "\u2013" else escape_csv_text(bare)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escape_latex(text: str) -> str:
    from pylatexenc.latexencode import unicode_to_latex

    # Characters are separated where TeX would join them to a dash, a quotation mark or an inverted question mark.
    parts = [
        str(unicode_to_latex(part, unknown_char_policy="keep", unknown_char_warning=False))
        for part in inert(text).split("`")
    ]
    return r"{\textasciigrave}".join(parts).replace("--", "-{}-").replace("--", "-{}-")


def _latex_row(cells: Iterable[str]) -> str:
    text = " & ".join(cells)
    return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"


def _latex_head(heading: Head) -> str:
    text = _escape_latex(heading.text)
    return text if heading.span == 1 else rf"\multicolumn{{{heading.span}}}{{c}}{{{text}}}"


def _latex_cell(cell: Cell) -> str:
    indent = len(cell.text) - len(cell.text.lstrip())
    text = (r"\quad " if indent else "") + _escape_latex(cell.text.strip())
    return text + rf" {{\scriptsize {_escape_latex(cell.small)}}}" if cell.small else text


def _heading_rules(line: Sequence[Head]) -> list[str]:
    rules, at = [], 1
    for heading in line:
        if heading.span > 1 and heading.text:
            rules.append(rf"\cmidrule(lr){{{at}-{at + heading.span - 1}}}")
        at += heading.span
    return ["".join(rules)] if rules else []


def text_plot(plot: Lines) -> str:
    most = 1.0 if plot.shares else max((value for one in plot.series for value in one.values if value), default=1.0)
    wide = max(map(len, plot.ticks), default=0)
    parts = []
    for one in plot.series:
        parts.append(inert(one.name))
        for tick, value in zip(plot.ticks, one.values, strict=True):
            figure = percentage(value) if plot.shares else NONE if value is None else f"{value:,.0f}"
            drawn = bar((value or 0.0) / most, _BAR).rstrip()
            parts.append(f"  {inert(tick):>{wide}}  {figure:>7}  {drawn}".rstrip())
    return "\n".join(parts)
