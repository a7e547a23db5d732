"""A database's health: what is hurt, what can be made anew, what can be brought back.

doctor: checks, and repairs. backups: the verbs of the command line. rescuing: out of a hurt file.
restoring: from backups and archives. store: pages.
"""
