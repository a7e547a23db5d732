"""Type-aware rules: decide whether two short final answers are equal, without a model.

An item's way, and where each step lives:

1. `verifier`: the verifier ``rules``. It decides at once what it can; only what needs sympy waits for a worker.
2. `answers`, `envelopes`: both final answers, out of boxes, tags, JSON, ``####``, polite last lines; and what never
   counts as one: an echoed question, words to a judge, a verdict line. `question`: what it says of its answer's form.
3. `reading`: each answer is read once, into a `records.Part`: a value of a type, its name, and what words beside it do
   (`sense`: bounds, denials, shares, rough figures, sides). `readers` has its types, one reader each:
   `quantities` with `numbers`, `numberwords`, `units`   exact numbers and what stands around: units, bases, ratios
   `calendar`              dates and times
   `structure`, `regions`  lists, sets, tuples, matrices, taken apart; intervals, inequalities, unions
   `tokens`, `expression`, `nodes`, `statements`  text to tokens to tree; trees with ``=`` or ``<`` between
   `choices`, `states`     options by letter or by text; yes or no, valid or invalid ...
   `logic`, `chemistry`    formulas
   `piecewise`             functions given in pieces
   `strings`               what is left: names, phrases, words
4. `comparing`: `COMPARERS`, the table of the comparers of two types, from `compare_numbers`, `compare_members` and
   `compare_words`; each is symmetric in the values it compares, and its refusal is final. `equality`: what they say.
   Values are equal where their trees have equal values: `equations`, with `evaluate` and `arithmetic`
   in a prime field, in doubles, in many digits; sums, integrals and limits by `symbolic`, only in worker processes.
5. `decision`: the verdict. It abstains on an equal answer that is not solved (`solving`), or that its completion denies
   or makes part of a larger formula (`surroundings`).

Throughout: `spelling` takes out how an answer is typed, `danger` says what is too much work (`TooComplex`).
"""
