"""Type-aware rules: decide whether two short final answers are equal, without a model.

An item's way, and where each step lives:

1. `verifier`: the verifier ``rules``. It decides at once what it can; only what needs sympy waits for a worker.
2. `answers`: both final answers, and what never counts as one: an echoed question, words to a judge, a verdict line.
   `question`: what the question says about its answer's form.
3. `decision`: asks one kind of answer after the other. The first that knows decides; where none does, it abstains.
4. The kinds that are words:
   `contrast`  choice by letter and by an option's text; options an answer rejects; brackets; formulas of logic
   `states`  yes or no, valid or invalid ...; a yes in the question's own words is read in `decision`
   `phrases`, `words`  what a sentence says; words one by one, and numbers written as words
5. The kinds that are values, all by way of `equality`, which says whether two values are the same and by which rule:
   `structure`, `shapes`  lists, sets, tuples, intervals, matrices: taken apart, compared part by part
   `calendar`  dates and times
   `quantities` with `numbers`, `units`  exact numbers and what stands around: units, bases, ratios
   `tokens`, `expression`, `nodes`  text to tokens to tree
   `statements`, `equations`  trees with ``=`` or ``<`` between, free constants, multiples
   `evaluate`, `arithmetic`  equal trees have equal values: in a prime field, in doubles, in many digits
   `symbolic`  sums, integrals, limits by sympy, only in worker processes

6. What guards the verdict "correct":
   `warrant`  asks once whether an answer found equal is meant: it abstains where the answer is denied or part of a
   larger formula (`surroundings`), changed by words (`qualifiers`), not solved, a place, a rough figure or an
   interval, another currency, thing, case or name (`alike`). `envelopes` takes off tags, JSON and polite last lines.

Throughout: `spelling` takes out how an answer is typed, `danger` says what is too much work (`TooComplex`). Comparers
return True, False, or None for "not of my kind"; each is symmetric in the values it compares, and bounded in time.
"""
