"""Similarity to the reference as a verdict: how evaluation was done before verifiers, for comparison.

A text can be similar to the reference and wrong, and dissimilar and right, so none of these is a verifier to rely on.
Every verdict carries its score, and the area under the ROC curve shows how well the scores separate correct from
incorrect completions whatever the threshold. The libraries come with the extra ``similarity`` and are imported by
worker processes only.
"""
