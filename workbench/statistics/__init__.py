"""Pure functions on arrays, each with its source; no database, no text.

confusion, accuracy, subgroups, scores, calibration: one verifier against gold; intervals, rates: confidence intervals;
permutations: p-values. compare, bootstrap: two verifiers; detecting: minimum detectable effect. flips: verdicts before
and after a change. joint_errors: dependence of two verifiers' errors. best_of: verifiers that select one of n
completions. agreement: annotators. disagreement: items worth a review. correlation, ranking: scores and rankings.
prediction_powered: estimates from few labels and many predictions. attacks: acceptance of probes. records: structs
of reported metrics.
"""
