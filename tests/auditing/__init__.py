"""An oracle for the metrics: each is counted a second time by slow, plain code and compared with the tool's.

records: differences and families. shown: metrics as commands report them. plain: the same by pandas and scipy,
sharing no code with what is checked. store: the tables that both count from, as frames. covering: which commands'
metrics are recounted, and which are not. auditing: the comparison.
"""
