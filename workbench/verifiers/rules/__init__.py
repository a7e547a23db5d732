"""Type-aware rules: decide whether two short final answers are equal, without a model.

The steps of an item, and their modules:

1. `verifier`: the verifier ``rules``. It decides at once what it can; only comparisons that need sympy wait for a
   worker.
2. `answers`: both final answers, out of boxes, tags, JSON, ``####``, polite last lines; and texts that never
   count as one: an echoed question, words to a judge, a verdict line. `question`: its demands on the answer's
   form; `choices`: the options it offers.
3. `reading`: each answer is read once, into one of the `records`: a value of a type, its name, and its qualifiers
   (`sense`: bounds, denials, shares, approximate numbers, sides). In a sentence it reads the value that the sentence
   concludes with (`conclusions`), by the reference's type, and none if the sentence states another such value as well.
   Each type has a record, a reader and its rows of the table of comparers, whose rejections are final:
   `figures`               with `quantities`, `numbers`, `units`: numbers and what surrounds them
   `changes`               increases and decreases
   `calendar`              dates and times
   `members`               with `structure`, `regions`: lists, sets, tuples, matrices; intervals, unions
   `named`                 values by name: what each person gets, which term goes with which definition
   `equations`             with `expression`, `nodes`: text to tokens to tree
   `parameters`            residue classes, general solutions, values by an index
   `piecewise`             functions given in pieces
   `logic`, `chemistry`    formulas
   `wordings`              with `choices`, `states`, `strings`: options; yes or no; names, phrases
4. `comparing`: two answers, by the row of their types. Values are equal if their trees have equal values:
   `evaluate` computes in a prime field, in doubles, in many digits; sums, integrals and limits wait for `symbolic`,
   only in worker processes. `forms`: the form that an answer must have in addition to its value.
5. `decision`: the verdict. It abstains on an equal answer that is not solved or rounds wrongly (`soundness`), and on
   one that its completion denies, makes part of a larger formula, or gives for another quantity than the one the
   question asks for (`surroundings`). It rejects only what the rules understand (`wordings`).

Throughout: `spelling` removes differences of typing, cuts tokens and limits the work, `patterns` reads the words,
phrases and names of ``data/``.
"""
