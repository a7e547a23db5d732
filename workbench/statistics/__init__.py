"""Pure functions on arrays, each with its source; no database, no text.

confusion, accuracy, subgroups, scores, calibration: one verifier against gold; intervals, rates: confidence intervals;
permutations: p-values. compare, bootstrap: two verifiers; detecting: minimum detectable effect. flips: before and
after. joint_errors: dependence of errors. best_of: selectors. folds: cross-fitting. stacks, stack_search: stages in
sequence. agreement: annotators. disagreement: items worth a review. correlation, ranking: scores and orders.
prediction_powered: few labels and many predictions. attacks: probes. watching: unequal sampling probabilities and
sequential tests. records: reported metrics.
"""
