"""Benchmarks: each module's ``main()`` prints one JSON line per metric; none of them is a test."""
