"""The data card: what readers of metrics must know about the data.

contents: the card as data. document: its text and front matter. methods: its sections, and the leaderboard.
"""
