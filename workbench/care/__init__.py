"""Database health: find damage, rebuild indexes and derived data, recover rows, back up and restore.

doctor: checks, and repairs. backups: copies of a database, and restoring from them. rescuing: recovery
from a damaged file. store: reading damaged files.
"""
