"""Static analysis of tests: what parsing shows before any test is run.

assertion: tests whose value can be compared outside the sandbox. callees: names by which tests
call the code under test.
broken: tests that no solution can pass.
"""
