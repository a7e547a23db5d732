"""File formats, read and written.

source, lines, documents, spreadsheets: read bytes, lines, JSON objects, sheets. reading, rows, fields: detect formats,
and validate items. kinds: the formats with fixed fields. places, verdict_words: nested values; columns with verifiers'
verdicts. first_look: a file's columns, and the fields they probably hold. sheets: labels and verdicts in tables.
writing: output. peers, argilla, label_studio, carried: other annotation tools. code: code problems and solutions.
logs: logs of evaluations and trainings.
"""
