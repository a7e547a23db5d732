"""Code benchmarks made into sets for scoring and ranking (Scoring Verifiers, section 2)."""
