"""Completions of stored questions, written by any number of models.

`plan_file`: what is wanted, from a file or the command line. `asking`: which calls that means, and what is there.
`planning`: what they will take. `completing`: making them.
"""
