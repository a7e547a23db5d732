"""Similarity to the reference as a verdict: evaluation as it was done before verifiers, for comparison.

A text can be similar to the reference and wrong, or dissimilar and right, so none of these verifiers is reliable. Every
verdict has a score, and the area under the ROC curve shows how well the scores separate correct from incorrect
completions at any threshold. The libraries come with the extra ``similarity`` and are imported only by worker
processes.
"""
