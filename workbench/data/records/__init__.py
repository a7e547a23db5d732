"""What lists of items and problems show.

browse: items. pass_matrix: problems and their solutions. duplicates: problems that say the same.
"""
