"""Widgets for large tables and long texts; they know no SQL and nothing of verifiers.

Tables
    virtual_table: a table over more rows than fit in memory. paged_view: its reading. columns: its columns and rows.
    sources: the origin of rows. arranged_view: a person's arrangement; arranging, conditions: sorting and
    filtering. filter_line: a line for conditions. copies: its copyable parts. table_messages: its messages.
    acting: a widget with actions of its own.
    segments: parts of a drawn line in another style.
    matrix, filtered_matrix: metrics with a cursor on a cell. pass_grid, pass_view, pass_texts: a pass matrix.

Texts
    reader, reader_messages: a long text. wrapping: to a width. card, card_texts: the final-answer card.
    item_panes, solution_view, evidence, opinions: details of an item.

Metrics in words
    accuracy_sheet, accuracy_view, agreement_view, briefing_view, compare_view, import_view, overview, queue_view,
    run_view, set_view, triage_view: one each.

Input
    prompt_bar: a line. text_editor: many lines. choices: a menu. option_field: an option. type_picker: an answer type.
    path_suggester: completes a file's name. file_picker: a tree of files.

Around a screen
    title_bar, footer. commands: the palette's.
"""
