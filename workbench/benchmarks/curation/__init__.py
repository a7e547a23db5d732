"""Curating a pool of questions, without a database.

`tokens`, `wording`, `near`: which questions say the same. `typing`: which type counts. `drawing`: which are drawn.
"""
