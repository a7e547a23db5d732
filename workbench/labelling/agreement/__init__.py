"""How far people agree.

labels: the labels that count, and the report's rows. measuring: their figures, or those of ratings from a file.
text: the report for a terminal.
"""
