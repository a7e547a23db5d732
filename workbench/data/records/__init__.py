"""Records that the lists of items and problems show.

browse: items. pass_matrix: problems and their solutions. duplicates: near-duplicate problems.
"""
