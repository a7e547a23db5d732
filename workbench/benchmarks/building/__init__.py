"""Building sets, and what stands of them afterwards.

picks, balanced, hard, random: one a kind of set. candidates: what there is to choose from, and its gold.
freezing: how any set is stored, and checked. comparing: frozen sets listed, described, compared.
"""
