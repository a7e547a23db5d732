"""Metrics of verdicts against gold, one in each module: its computation, and how tables, schemas and screens show it.

A metric is used once it is the type of a field of `workbench.statistics.records.report.AccuracyRow`.
"""
