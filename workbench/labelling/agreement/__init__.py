"""Inter-annotator agreement.

labels: the labels that count, and the report's rows. measuring: their metrics, or those of ratings from a file.
text: the report for a terminal.
"""
