"""Type-aware rules: decide whether two short final answers are equal, without a model.

The steps of an item, and their modules:

1. `verifier`: the verifier ``rules``. It decides at once what it can; only comparisons that need sympy wait for a
   worker.
2. `answers`: both final answers, out of boxes, tags, JSON, ``####``, polite last lines; and what is never one:
   an echoed question, words to a judge, a verdict line. `question`: its demands on the answer's form; `choices`:
   the options it offers.
3. `reading`: each answer is read once, into a `records.Part`: a value of a type, its name, and its qualifiers
   (`sense`: bounds, denials, shares, approximate numbers, sides). In a sentence it reads the value that the sentence
   concludes with (`conclusions`), by the reference's type, and none if the sentence states another such value as well.
4. `comparing`: the types of answers and the table of their comparers, whose rejections are final. A type has a record,
   a reader and rows of the table:
   `figures`               with `quantities`, `numbers`, `units`: numbers and what surrounds them
   `changes`               increases and decreases
   `calendar`              dates and times
   `members`               with `structure`, `regions`: lists, sets, tuples, matrices; intervals, unions
   `named`                 values by name: what each person gets, which term goes with which definition
   `equations`             with `spelling`, `expression`, `nodes`, `evaluate`: text to tokens to trees to values
   `parameters`            residue classes, general solutions, values by an index
   `piecewise`             functions given in pieces
   `logic`, `chemistry`    formulas
   `wordings`              with `choices`, `states`, `strings`: options; yes or no; names, texts
   `forms` checks the form that a question asks for, `symbolic` calls sympy, `patterns` loads the words of ``data/``.
5. `decision`: the verdict, after doubts about an accepted answer: what surrounds it in the completion
   (`surroundings`), and whether it is solved and agrees with its own rounding (`soundness`).
"""
