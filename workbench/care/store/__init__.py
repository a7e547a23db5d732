"""Database files past SQLite, and checks by SQL.

salvage: read a damaged file. rescuing: write a new one; make a database of a backup.

anatomy: locate the damage.
"""
