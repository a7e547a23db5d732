"""Records of reports; those of statistics are in `statistics.records`.

paper: the paper's tables. review, triage: reviews of disagreements and of errors. validity: bias checks. card: data
cards. curation: pools of questions. testing: tests of code. stack: stacks of verifiers. watching: trainings.
"""
