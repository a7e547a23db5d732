"""What models write for problems that are there.

suite_writing: tests, of a problem or of a single solution, as a suite.
solution_writing: solutions, until a problem has enough different scores. pooling: so many of each model, as they are.
joining: solutions that were written join the data set.
"""
