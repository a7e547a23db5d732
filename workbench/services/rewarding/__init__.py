"""Verifiers as reward functions, in the process that trains and over HTTP.

`choosing`: which verifier. `scale`: from verdicts to rewards. `trl`, `verl`, `openrlhf`: what each trainer gives and
takes; `texts` reads its values. `serving`, `asking`: judging for many who wait, on this machine and by model servers;
`line`: how many may wait.
"""
