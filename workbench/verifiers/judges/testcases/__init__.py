"""Test cases that a model writes, checks and then executes in its head.

writing: gets a problem's tests, and reads the replies. judge: runs a submission on them, and judges by nothing else.

Source: MCTS-Judge, arXiv 2502.12468, section 3.3 and tables 9, 12 and 13.
"""
