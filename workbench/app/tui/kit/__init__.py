"""Widgets for large tables and long texts; they run no SQL and don't know what a verifier is.

Tables
    virtual_table: a table of more rows than fit in memory. columns: its columns and rows. sources: where its rows come
    from. arranged_view: reads rows in threads, sorts and filters them by means of arranging.
    copies: widgets with their own actions, and copying. table_messages: messages of a table to its screen.
    matrix_table: metrics with a cursor on one cell. pass_grid, pass_view: a pass matrix, and a solution.

Texts
    cells: texts in a line of terminal cells. reader: a long text. wrapping: line breaks at a width.
    card, card_texts: the final-answer card.
    item_panes, evidence: details of an item.

Reports and runs as text
    accuracy_sheet, accuracy_view, overview, queue_view, triage_view: the texts of one screen each.

Input
    prompt_line: one line, also of conditions. choices: a menu, the next of several choices. option_field: a field of a
    form. type_picker: an answer type. path_suggester: completes a file's name.

Around a screen
    title_bar, footer.
"""
