"""A database's health: what is hurt, what can be made anew, what can be brought back.

doctor: checks, backups and repairs. rescuing: out of a hurt file. restoring: from backups and archives. store: pages.
"""
