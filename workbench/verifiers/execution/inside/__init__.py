"""What runs inside the sandbox: the standard library alone, on whatever interpreter programs are run with."""
