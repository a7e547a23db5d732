"""Background work: runs as rows, one runner process a database, worker pools, progress."""
