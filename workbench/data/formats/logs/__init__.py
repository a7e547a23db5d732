"""Logs of evaluations and trainings: files of other tools, with their own graders' verdicts.

kinds: the table of log formats, and the loop over a log's rows. logged: the result of reading a row, and its cells.
prompts: the question within a prompt. inspect_ai, lm_eval, openai, trainers: tools. judges: data of published judges.

To add a format: a `LogKind` in a module like these, and its line in `kinds`. Import, --format and detection then
support it, and the tests require a line in docs/formats.md and a row in tests/data/rows/logs.
"""
