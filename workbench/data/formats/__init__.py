"""Files in and out.

source, lines, documents: bytes, lines, JSON objects. reading, rows, fields: which file it is, and checked items.
writing: the way out. peers, argilla, label_studio, carried: other annotation tools. embeddings: of problems.
code: problems and solutions. logs: evaluations and trainings.
"""
