"""Curates a pool of questions: duplicates, exclusions, answer types, licences, a draw.

pool: included and excluded questions. duplicates: near-duplicates. types: suggested types. type_forms: types derived
from references. drawing: the draw. datasets: whole data sets excluded, included again, renamed.
"""
