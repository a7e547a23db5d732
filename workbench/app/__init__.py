"""Front ends: the command line, the terminal app, HTTP servers, and the Python API.

cli, tui, web, api: one front end each. verbs: the commands that they share. demo: the sample data.
"""
