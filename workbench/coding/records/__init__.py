"""Records of evolutions, and metrics of tests, of written tests and of solutions.

evolution: settings, steps and reports of evolutions. figures: metrics, and written tests and solutions.
"""
