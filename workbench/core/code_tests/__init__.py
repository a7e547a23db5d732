"""What is known of tests before any is run, by parsing alone.

assertion: tests whose value can be compared outside the sandbox. callees: whom they call.
broken: tests that say nothing of any solution.
"""
