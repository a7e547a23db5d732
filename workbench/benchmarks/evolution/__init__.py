"""Tests that evolve against the solutions they let through (EvolveCoder, section 2)."""
