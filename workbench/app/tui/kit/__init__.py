"""Widgets for large tables and long texts; they know no SQL and nothing of verifiers.

Tables
    virtual_table: one over more rows than fit in memory. paged_view: how it reads. columns: what it shows.
    sources: where rows come from. arranged_view: what a person makes of it; arranging, conditions: in which order,
    which rows. filter_line: where conditions are typed. copies: what of it can be copied. table_messages: what it says.
    acting: a widget with actions of its own.
    segments: parts of a drawn line in another style.
    matrix, filtered_matrix: figures with a cursor on a cell. pass_grid, pass_view, pass_texts: a pass matrix.
Texts
    reader, reader_messages: a long text. wrapping: to a width. card, card_texts: the final-answer card.
    item_panes, solution_view, evidence, opinions: what stands beside it.
Figures in words
    accuracy_sheet, accuracy_view, agreement_view, briefing_view, compare_view, import_view, overview, queue_view,
    run_view, set_view, triage_view: one each.
To be filled in
    prompt_bar: a line. text_editor: many lines. choices: a menu. option_field: an option. type_picker: an answer type.
    path_suggester: completes a file's name. file_picker: a tree of files.
Around a screen
    title_bar, footer. commands: the palette's.
"""
