"""A database's health: find damage, rebuild what can be rebuilt, and restore.

doctor: checks, and repairs. backups: copies of a database, and the way back from them and from archives.
rescuing: out of a hurt file. store: what can be read.
"""
