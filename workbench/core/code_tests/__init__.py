"""Static analysis of tests: results of parsing, before any test is run.

assertion: tests whose value can be compared outside the sandbox. callees: names of the code under test.
broken: tests that no solution can pass.
"""
