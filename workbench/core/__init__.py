"""What every job shares: nouns without a database, the database itself, and texts. Nothing here imports a job.

errors: messages for a person. installed: the whole of workbench, or its core alone. processes: who is alive.
files: files in the making, and files of one's own. inputs: files that are read.
item, code, verdict, run, label, taxonomy, reasons, sets: the nouns. states: what follows from label events.
columns: rows that others hand over. options: a verb's options. selection: which items a verb speaks of.
health: what ``doctor`` finds. progress: how far long work is. status: what Home shows.
project: a database and what is held beside it. kept: labels that wait while its file is away.
database: opening, schema, migrations, label events. text: mathematics, Markdown and code for the eye.
final_answer: where a text ends in an answer. code_tests: what is known of a test before it runs.
"""
