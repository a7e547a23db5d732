"""The SQL of items, questions, code problems and their tests.

importing, import_rows, item_rows, problems: rows in. browsing, reading, columns, tests: rows out. searching: items by
their texts. text_index: the index in a separate file next to the database. label_lines: ids of items and names of
people. licences: of sources. datasets: whole data sets, excluded and renamed.
"""
