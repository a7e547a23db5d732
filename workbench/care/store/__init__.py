"""Access to damaged database files, and checks by SQL.

rescuing: read a damaged file, and write a new database from it; prepare backups. anatomy: the checks of doctor.
"""
