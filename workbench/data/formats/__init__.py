"""File formats, read and written.

source, lines, documents, spreadsheets: bytes, lines, JSON objects, sheets. reading, rows, fields: format detection, and
validated items. places, verdict_words: nested values; columns with verifiers' verdicts. first_look: a file's columns,
and their likely fields. sheets: labels and verdicts in tables. writing: output. peers, argilla, label_studio, carried:
other annotation tools. embeddings: of problems. code: problems and solutions. logs: evaluations and trainings.
"""
