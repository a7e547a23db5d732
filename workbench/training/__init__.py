"""Verifiers as rewards: in process, served, and as trainers call them.

reward: ``workbench.reward``. verl: as verl loads it. choosing: which verifier, and what its verdicts are worth.
serving: the reward server's work. frameworks: forms of TRL, verl and OpenRLHF. records: what is sent and answered.
"""
