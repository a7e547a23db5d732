"""Rendering of texts: only the display changes, never stored texts.

markdown, fragments, emphasis, document: Markdown as lines. math, symbols: TeX as characters. code: highlighted.
inert: neutralises control characters. excerpt: shortened. figures: numbers, bars, columns. run_words: runs.
ids: abbreviated ids. wordings: word trigrams, by which equivalent phrasings are recognised.
"""
