"""Pure functions on arrays, each with its source; no database, no text.

confusion, accuracy, subgroups, scores, calibration: one verifier against gold; intervals, rates: how sure that is;
permutations: how likely by chance. compare, bootstrap: two; detecting: what that could show. flips: before and after.
joint_errors: several. best_of: one as a selector. stacks, stack_search: one behind the other.
folds: choices that are judged on other questions.
agreement: people. disagreement: which items are worth a look.
correlation, ranking: scores and orders. prediction_powered: few labels and many predictions. attacks: probes.
watching: unequal chances, and what rises.
records: figures as they are reported.
"""
