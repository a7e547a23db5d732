"""Access to damaged database files, and checks by SQL.

salvage: read a damaged file. rescuing: write a new database from it; make a database from a backup.

anatomy: locate the damage.
"""
