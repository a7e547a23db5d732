"""Verifiers at work: configuring and starting them, and what their runs have said and cost."""
