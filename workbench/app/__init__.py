"""Front ends: the command line, the app in the terminal, servers, and the Python API. They speak to verbs and tables.

cli, tui, web, api: one each. verbs: what all of them can do. demo: the sample data. schemas: of every file and report.
"""
