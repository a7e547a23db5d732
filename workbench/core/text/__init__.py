"""Renders texts for display; stored texts are never changed.

markdown, fragments, emphasis, document: Markdown as lines. math, symbols: TeX as characters. code: highlighted.
inert: neutralises control characters. excerpt: shortened texts and ids. figures: numbers, bars and columns as text.
run_words: runs in words.
"""
