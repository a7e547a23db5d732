"""Verifiers as rewards: in process, served, and as trainers and evaluation harnesses call them.

judging: ``workbench.judge``. reward: ``workbench.reward``. choosing: the verifier, and the scale of its rewards.
named: verifiers by their name in a project. frameworks: request formats of TRL, verl and OpenRLHF. verl: verl's entry
point.
inspect_ai, lm_eval, lighteval, verifiers: ``judge`` as each of these libraries calls it; imported only if installed.
batches: ``workbench.Judge``. on_call: verifiers that call model servers, in process. serving: judging for many
concurrent clients, as the reward server does.
testing: tests in place of references, and running solutions against them.
pay: the test reward.
fair: fair queueing of requests.
records: requests and answers.
"""
