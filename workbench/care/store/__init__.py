"""Database files past SQLite, and checks by SQL.

salvage: what can be read of a hurt file. rescuing: into a new one; a backup becomes a database.
anatomy: where it is hurt.
"""
