"""A database's health: what is hurt, what can be made anew, what can be brought back.

doctor: checks, and repairs. backups: copies of a database, and the way back from them and from archives.
rescuing: out of a hurt file. store: what can be read.
"""
