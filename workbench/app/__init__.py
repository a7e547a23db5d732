"""Front ends: the command line, the terminal app, servers, and the Python API. They use verbs and tables.

cli, tui, web, api: one each. verbs: what all of them can do. demo: the sample data. schemas: of every file and report.
"""
