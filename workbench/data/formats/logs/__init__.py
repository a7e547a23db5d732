"""Logs of evaluations and trainings: files that other tools write, with their own graders' verdicts.

kinds: the table of them, and the loop over a log's rows. logged: what a row is read to, and its cells.
prompts: the question within a prompt. inspect_ai, lm_eval, openai, trainers: tools. judges: files of judges' makers.

To add a format: a `LogKind` beside those like it, and its line in `kinds`. Import, --format and detection follow from
it,
and the tests ask for a documented row in docs/log-formats.md.
"""
