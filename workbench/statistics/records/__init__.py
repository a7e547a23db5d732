"""Records of reported metrics. Shares are fractions; an undefined metric is null.

report: accuracy, and the labelling order of items. comparison: two or more verifiers. combined: best of n, estimates
from few labels, downstream scores. agreement: annotators. flips: effects of changed options. probe: probes, scores of
reward models, studies of judges. ranking: solutions of code problems.
"""
