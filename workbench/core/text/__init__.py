"""Texts for the eye: what is stored is never changed, only shown.

markdown, fragments, emphasis, document: Markdown as lines. math, symbols: TeX as characters. code: with its colours.
inert: nothing in a text commands a terminal. excerpt: cut short. figures: numbers, bars, columns. run_words: of a run.
ids: by their ends. wordings: three words in a row, by which texts that say the same are known.
"""
