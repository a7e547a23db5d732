"""MCTS-Judge: a search over subtasks, rewarded by the simulated execution of test cases.

subtasks: parts of the prompts, and the options. tree: the search's arithmetic up to the answer, and its trace.
judge: the strategies, with a search or with all subtasks once, and their requests.

Source: Wang et al., "MCTS-Judge: Test-Time Scaling in LLM-as-a-Judge for Code Correctness Evaluation",
arXiv 2502.12468. The paper leaves several points open and names only two of its subtasks; for those, the options
document our choices.
"""
