"""Records of reports; those of statistics are in `statistics.records`.

documents: data cards and the paper's tables. review: reviews of disagreements. curation: pools of questions.
"""
