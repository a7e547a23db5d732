"""Pure functions on arrays: accuracy, intervals, comparisons."""
