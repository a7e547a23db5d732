"""Similarity to the reference as a verdict: what evaluation did before verifiers, for comparison.

A text can be like the reference and wrong, and unlike it and right, so none of these is a verifier to rely on. Every
verdict carries its score, and the area under the ROC curve says how far the scores separate correct from incorrect
completions whatever the threshold. The libraries come with the extra ``similarity`` and are imported by worker
processes only.
"""
