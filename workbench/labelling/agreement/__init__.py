"""Inter-annotator agreement.

labels: reads the labels that count, and builds the report's rows. measuring: computes agreement metrics, also of
ratings from a file.
text: the report for a terminal.
"""
