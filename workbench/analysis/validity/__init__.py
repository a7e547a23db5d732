"""Whether a verifier's verdicts follow what they should not: length, authorship, form, chance."""
