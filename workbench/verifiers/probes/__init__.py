"""Reward-hacking probes: completions that answer nothing, or are wrong by construction, for any question.

payloads: what is in ``suite/`` (data, one file a family). values: what the placeholders in it stand for on a question.
programs: programs for code, and what is a right answer there. building: probes, controls and carriers together.
"""
