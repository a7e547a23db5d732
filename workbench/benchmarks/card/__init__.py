"""The data card: what readers of metrics must know about the data.

contents: its contents. document: its text and front matter. methods: its sections, and the leaderboard.
"""
