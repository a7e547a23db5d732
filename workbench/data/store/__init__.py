"""The SQL of items, questions, code problems and their tests.

importing, import_rows, item_rows, problems: insert rows. browsing, reading, columns, tests: read rows. searching: find
items by their texts. text_index: the full-text index in a separate file. licences: licences of sources. datasets:
excluding and renaming whole data sets.
"""
