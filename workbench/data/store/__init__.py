"""The SQL of items, questions, code problems and their tests.

importing, import_rows, item_rows, problems: rows in. browsing, reading, columns, tests: rows out.
label_lines: ids of items and names of people. licences: of sources.
"""
