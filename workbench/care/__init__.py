"""A database's health: find damage, rebuild what can be rebuilt, and restore.

doctor: checks, and repairs. backups: copies of a database, and restoring from them and from archives. rescuing:
recovery from a damaged file. store: reading damaged files.
"""
