"""Reward-hacking probes: completions that answer nothing, or are wrong by construction, for any question.

building: the payloads in ``suite/``, one file for each family, and the probes, controls and carriers built from them.
values: values of a payload's placeholders for a question. programs: programs for code questions, and the set of right
answers to any question.
"""
