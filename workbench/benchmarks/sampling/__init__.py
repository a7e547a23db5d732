"""Completions that models write for a benchmark's questions, by a plan.

planning: the plan, read and estimated. asking: the requests. completing: the run.
"""
