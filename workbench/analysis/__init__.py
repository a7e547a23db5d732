"""Pure functions on arrays: accuracy, agreement, intervals, comparisons.

The ground
    arrays: the array types. confusion: verdicts against gold under a protocol. metrics: figures of one table.
    intervals: Wilson's, clustered by question. bootstrap: where there is no closed form.
    multiplicity: p-values of many tests.

One verifier
    accuracy: the table by group. averages, baselines, metric_intervals, subgroups, transfer: what stands beside it.
    auroc, correlation, pairs, threshold: scores. prediction_powered: few labels and many predictions.
    attacks: probes. validity: what verdicts follow besides correctness.

Several verifiers
    compare, differences, duel: two of them. letters: which can't be told apart. joint_errors: who errs with whom.
    ensembles, selectors: votes and picks. cross_fitting: choices judged elsewhere. ranks: order against order.
    disagreement: items on which verifiers, gold and people differ.

People
    agreement: how far they agree. planning, ordering: how many labels it takes, and which come first.
"""
