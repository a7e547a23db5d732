"""The rows of an archive, out and in: `archiving`. Runs of another database: `foreign`."""
