"""Rankings of solutions: true ones, those of verifiers, and sets of solutions to rank (Scoring Verifiers).

What is counted from
    truth: what tests say of each problem's solutions. scored: the same beside the scores of verifiers.

Sets
    selecting: k solutions of each problem. set_files: what was selected, as files.
    histograms: how scores are spread in them.

Figures
    measuring: how well verifiers rank and score. saturating: how many tests are enough. passing: pass@k.
    tables: each in every format.
"""
