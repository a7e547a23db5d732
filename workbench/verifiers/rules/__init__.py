"""Type-aware rules: decide whether two short final answers are equal, without a model.

An item's way, and where each step lives:

1. `verifier`: the verifier ``rules``. It decides at once what it can; only what needs sympy waits for a worker.
2. `answers`: both final answers, and what never counts as one: an echoed question, words to a judge, a verdict line.
   `question`: what the question says about its answer's form.
3. `decision`: asks one kind of answer after the other. The first that knows decides; where none does, it abstains.
4. The kinds that are words:
   `options`, `choice`  multiple choice, by letter and by an option's text
   `states`, `affirmation`  yes or no, valid or invalid ...; a yes in the question's own words
   `brackets`  closing a sequence of brackets
   `wording`, `phrases`  strings and lists of words; what a sentence says
5. The kinds that are values, all by way of `equality`, which says whether two values are the same and by which rule:
   `structure`, `shapes`, `intervals`  lists, sets, tuples, matrices: taken apart, compared part by part
   `calendar`  dates and times
   `quantities` with `numbers`, `words`, `units`, `unit_table`, `bases`, `ratios`  exact numbers and what stands around
   `unit_suffix`  a unit behind an expression, which `quantities` doesn't read: its numbers are written out
   `tokens`, `cursor`, `expression`, `nodes`  text to tokens to tree
   `statements`, `equations`, `families`, `proportion`  trees with ``=`` or ``<`` between, free constants, multiples
   `evaluate`, `arithmetic`  equal trees have equal values: in a prime field, in doubles, in many digits
   `symbolic`  sums, integrals, limits by sympy, only in worker processes

6. What guards the verdict "correct":
   `warrant`  asks once whether an answer found equal is meant: it abstains where the answer is denied or part of a
   larger formula (`surroundings`), changed by words (`qualifiers`, `picking`), not solved (`solved`), another currency,
   thing, case or name (`alike`), a place, rough figure or interval (`forms`). `contrast` leaves out options an answer
   rejects, `envelopes` tags, JSON and polite last lines; `logic` compares formulas.

Throughout: `spelling` takes out how an answer is typed, `danger` says what is too much work (`TooComplex`). Comparers
return True, False, or None for "not of my kind"; each is symmetric in the values it compares, and bounded in time.
"""
