"""Database files past SQLite, and checks by SQL.

pages, salvage: what can be read however a file is hurt. rescuing: into a new one; a backup becomes a database.
anatomy: where it is hurt.
"""
