"""Logs of evaluations and trainings: files of other tools, with the verdicts of the tools' graders.

logged: the declaration of a format, the result of reading a row, and reading its cells. prompts: finds the question
within a prompt. inspect_ai, lm_eval, openai, trainers: one module per tool. judges: data of published judges.

To add a format: a `Format` in a module like these, and its line in `formats.kinds`. Import, --format and detection then
support it, and the tests require a line in docs/formats.md and a row in tests/data/rows/logs.
"""
