"""The data card of published sets.

contents: everything it says, as figures and texts. document: its parts in order. sections: one a kind of question a
reader has. methods: the same as a paragraph to copy. leaderboard: who is how accurate. front_matter: what the Hugging
Face Hub reads of it. licences: whose licence holds for what.
"""
