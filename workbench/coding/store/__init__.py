"""The SQL of code.

evolutions: rounds and their steps. pass_matrix: outcomes of a problem.
"""
