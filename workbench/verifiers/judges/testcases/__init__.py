"""Test cases that a model writes, checks and then executes by reasoning.

writing: gets a problem's tests, and parses the replies. judge: simulates a submission on them, and judges by the result
only.

Source: MCTS-Judge, arXiv 2502.12468, section 3.3 and tables 9, 12 and 13.
"""
