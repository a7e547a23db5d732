"""How well a verifier's scores rank the solutions of a problem (Scoring Verifiers, sections 4 and 5)."""
