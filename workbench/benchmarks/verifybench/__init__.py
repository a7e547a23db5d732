"""The rules of VerifyBench (section 3), without a database.

`questions`: what is chosen from, and picking. `quotas`, `quota_files`, `apportioning`: how many of each type.
`balancing`, `capping`: which questions meet them. `stratifying`: samples in proportion. `shortfalls`: what is missing.
"""
