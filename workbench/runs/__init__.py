"""Background work: runs, the one process that executes them, and the requests and verdicts of verifiers.

verifying: start, pause, cancel, resume. choosing, configuring, trust: selection, options and approval of verifiers.
examples: a judge's few-shot examples. run_status: state of runs; deleting a run. verdict_files: export and import of
verdicts.
store: the SQL. runner: the process. lease: its start, its lock and its claim on the database.
executor, local: verifiers on this machine, for callers in any thread and for runs.
session, journal: calls to model servers. serving: verifiers that make them. executing: verifiers that run programs.
cluster: many machines, and the worker on each. cluster_pool: their sandboxes.
batching: a judge's calls through batch APIs.
generation, generating: texts written by models.
rejudging: a run's items judged with other options.
probes: attempts to hack a verifier. trying: a verifier's trial on a few items. own_templates: edited judge
templates. previewing: requests before they are sent. transcripts: stored calls. replaying: recorded replies instead of
calls.
"""
