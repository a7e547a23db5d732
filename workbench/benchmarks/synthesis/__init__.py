"""What models write for a benchmark: tests of a problem, and solutions of all degrees (Scoring Verifiers, 2.1 and 4.1).

``asking`` makes the requests, ``tests`` reads tests out of replies, ``solutions`` says when there are enough of them.
"""
