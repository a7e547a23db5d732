"""Building data sets: the rules by which solutions and tests are chosen, on plain data."""
