"""Curates a pool of questions: duplicates, exclusions, answer types, licences, random draws.

pool: included and excluded questions. duplicates: near-duplicates. types: answer types proposed by models and given by
annotators. type_forms: types derived from references. drawing: draws questions. datasets: excludes, includes again and
renames whole data sets.
"""
