"""Pure functions on arrays: accuracy, agreement, intervals, comparisons."""
