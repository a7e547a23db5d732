"""Files of code problems and of their solutions: one module a format."""
