"""Benchmarks: each module's ``main()`` prints one JSON line a figure; none of them is a test."""
