"""A pool of questions: duplicates, exclusions, answer types, licences, a draw.

pool: what is in and out. duplicates: questions that say the same. types: suggested ones. type_forms: told from
references. drawing: the draw. datasets: whole ones, out, in again, renamed.
"""
