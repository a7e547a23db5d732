"""Verifiers against gold, and against each other: figures, the items behind them, and their texts."""
