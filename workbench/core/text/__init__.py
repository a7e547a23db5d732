"""Rendering of texts: stored texts are never changed, only displayed.

markdown, fragments, emphasis, document: Markdown as lines. math, symbols: TeX as characters. code: highlighted.
inert: neutralises control characters. excerpt: shortened. figures: numbers, bars, columns. run_words: runs.
ids: abbreviated ids. wordings: word trigrams, by which equivalent phrasings are recognised.
"""
