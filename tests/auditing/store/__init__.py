"""What a project's figures are counted from.

frames: tables as they stand, in pandas.
"""
