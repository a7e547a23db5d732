"""Code: problems whose solutions are executed; what their tests are worth, and how they grow harder.

A problem is a question and a solution a completion: what is said of items elsewhere holds of them too.

What tests say
    results: outcomes of every solution, as lines.
    problems: the list of problems. matrix: one problem's solutions against its tests, laid out by arranging.

What writing and growing share
    targets: which data set is meant, and which of its problems.
    generation: models that write. sandbox: where programs are executed while the caller waits.

Rooms
    ranking: how well verifiers rank and score solutions, and sets made for that.
    synthesis: tests and solutions written by models.
    evolution: suites that grow harder by rounds, and what goes before: problems written anew, near-duplicates out.
"""
