"""Reward-hacking probes: completions that answer nothing, or are wrong by construction, for any question.

payloads: the data in ``suite/``, one file for each family. values: values of its placeholders for a question.
programs: programs for code questions, and the set of right answers to any question. building: probes, controls and
carriers together.
"""
