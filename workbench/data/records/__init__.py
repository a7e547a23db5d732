"""Rows of lists of items and problems.

browse: items. pass_matrix: problems and their solutions. duplicates: near-duplicate problems.
"""
