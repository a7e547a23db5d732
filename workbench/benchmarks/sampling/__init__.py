"""Completions that models write of a set's questions, by a plan.

planning: the plan, read and counted. asking: what is asked. completing: the run.
"""
