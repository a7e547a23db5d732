"""Verifiers as rewards: in process, served, and as trainers and harnesses call them.

judging: ``workbench.judge``. reward: ``workbench.reward``. choosing: which verifier, and what its verdicts are worth.
named: one that a project names. verl: as verl loads it. frameworks: forms of TRL, verl and OpenRLHF.
serving: the reward server's work. records: what is sent and answered.
"""
