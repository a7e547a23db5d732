"""The few verbs the front ends call."""
