"""The SQL of code.

evolutions: rounds and their steps. exclusions: decisions on tests. pass_matrix: outcomes of a problem's solutions.
"""
