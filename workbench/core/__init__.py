"""Types, the database and text rendering that all other packages share. Nothing here imports them.

errors: messages for people. installed: whether the app is installed or the core alone. processes: which are alive.
files: temporary files and the user's private files. inputs: files that are read.
item, code, verdict, run, label, taxonomy, reasons, sets: records. states: states derived from label events.
columns: tables from callers. options: a verb's options. selection: which items a verb works on.
health: findings of ``doctor``. progress: progress of long work. status: contents of Home.
project: a database and the files next to it. drafts: notes that go with no label yet.
database: opening, schema, migrations, label events. text: mathematics, Markdown and code for the terminal.
final_answer: locating a text's final answer. code_tests: static analysis of tests.
"""
