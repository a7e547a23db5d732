"""Background work: runs, the one process that does them, and what verifiers were asked and said.

verifying: start, pause, cancel, resume. choosing, configuring, trust: which verifier, how, and who allowed it.
examples: what a judge is shown. pairing: what a completion is compared with.
run_status: what runs have done; deleting one. pacing: how fast they go. verdict_files: verdicts out and in.
store: the SQL. runner: the process. liveness, lease: its launch and life.
first_stage, local: verifiers on this machine.
session, journal: calls to model servers. serving: verifiers that make them. executing: verifiers that run programs.
stages: a stack's verifiers at work. cluster, nodes: on many machines, and what works on each.
cluster_pool: their sandboxes. feeding: work as there is room for it, in leases.
batching, batch_desk: a judge's calls, answered together.
executor: single items for callers in any thread. generation, generating: texts that models write.
rejudging, rejudger: a run's items judged by other options; the process that does it.
probes, probing: attempts to hack a verifier. trying: a verifier on a few items. own_templates: a judge's, edited.
previewing, transcripts, replaying: calls, seen and seen again.
"""
