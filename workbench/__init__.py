"""Annotate verifier data and measure verifiers, in the terminal."""

__version__ = "0.1.0"
