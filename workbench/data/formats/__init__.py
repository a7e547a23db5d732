"""Files in and out.

source, lines, documents, spreadsheets: bytes, lines, JSON objects, sheets.
reading, rows, fields: which file it is, and checked items.
places, verdict_words: what stands deeper in a row than a column; columns that are verifiers' verdicts.
first_look: its columns, and what they could be.
sheets: labels and verdicts in tables. writing: the way out.
peers, argilla, label_studio, carried: other annotation tools. embeddings: of problems.
code: problems and solutions. logs: evaluations and trainings.
"""
