"""Types, the database and text rendering, shared by all other packages. Nothing here imports the other packages.

errors: errors with messages for users. installed: whether the app is installed or only the core. closing:
context managers that close. files: temporary files, locks, the user's private files, files that the user names.
item, code, verdict, run, label, taxonomy, reasons, sets: records. states: states derived from label events.
columns: columns of values from callers. options: the options of commands. selection: which items a command works on.
health: findings of ``doctor``. progress: progress of long work. status: contents of the Home screen.
project: a database and the files next to it, and notes whose label is not stored yet.
database: opening, schema, migrations, label events. text: mathematics, Markdown and code for the terminal.
final_answer: locating a text's final answer. code_tests: static analysis of tests.
"""
