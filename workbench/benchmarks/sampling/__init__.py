"""Has models write completions for a benchmark's questions, by a plan.

planning: reads a plan, and estimates its cost. asking: the requests. completing: the run.
"""
