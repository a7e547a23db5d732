"""Logs of evaluations and trainings: files that other tools write, with their own graders' verdicts.

kinds: the table of them, and the loop over a log's rows. kind: what one says of itself. logged: what a row is read to.
cells, plain, prompts, rewards, targets: what several read alike. Every other module is a tool's, or the part of a
tool's that its name begins with.

To add a format: a module with a `LogKind`, and its line in `kinds`. Import, --format and detection follow from it, and
the tests ask for a documented row in docs/log-formats.md.
"""
