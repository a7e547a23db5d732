"""The data card: what a reader of figures must know of the data they were counted on.

contents: what it is made of. document: its text and front matter. methods: its sections, and the leaderboard.
"""
