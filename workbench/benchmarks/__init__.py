"""Building data sets: the rules by which questions, completions and tests are chosen, on plain data.

`draws`: chance that can be repeated. `alike`: which of many are too similar. `writing`: what models are asked.
"""
