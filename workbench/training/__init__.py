"""Verifiers as reward functions for trainers: `reward.Reward`, and `verl` for verl's configuration."""
