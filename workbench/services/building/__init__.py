"""Building sets in the manner of VerifyBench, and what stands of them afterwards.

`picks`, `balanced`, `hard` (its queue: `queueing`): one a kind of set.
`candidates`, `labelled`: what there is to choose from, and its gold. `composition`: what a set is made of.
`freezing`: how any set is stored; `differing`: why it is not the one that stands there.
`described`: what a set says of itself.
`showing`, `comparing`, `checking`: frozen sets listed, compared, checked.
"""
