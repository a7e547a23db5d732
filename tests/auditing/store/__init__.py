"""The data from which a project's metrics are computed.

frames: the tables as pandas frames.
"""
