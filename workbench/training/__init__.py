"""Verifiers as rewards: in process, served, and as trainers and harnesses call them.

judging: ``workbench.judge``. reward: ``workbench.reward``. choosing: which verifier, and what its verdicts are worth.
named: one that a project names. frameworks: forms of TRL, verl and OpenRLHF. verl: as verl loads it.
inspect_ai, lm_eval, lighteval, verifiers: ``judge`` as each of these libraries calls it; only who has one imports it.
auditing, audit, wordings, store: a share of what was judged, watched in a project; what rises among it.
batches: ``workbench.Judge``. on_call: verifiers that ask model servers, in process. serving: the reward server's work.
tested: tests in the place of references. testing, on_nodes: solutions run against them.
pay: what their outcomes pay.
fair: whose turn it is. probing: a verifier probed where it is served.
records: what is sent and answered.
"""
