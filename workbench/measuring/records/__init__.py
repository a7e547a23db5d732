"""Records of reports; those of statistics are in `statistics.records`.

paper: the paper's tables. review: reviews of disagreements. card: data cards. curation: pools of questions.
"""
