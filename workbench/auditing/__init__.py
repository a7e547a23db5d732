"""Every figure of a project counted a second time, slowly and plainly, and set beside what the tool shows.

records: differences, families and what is not covered. shown: the figures as commands count them. plain: the same by
pandas and scipy, without a line of the code that is checked. store: what both are counted from, as frames.
covering: which commands' figures those are, and which not. auditing: one beside the other. tables: the report for a
terminal.
"""
