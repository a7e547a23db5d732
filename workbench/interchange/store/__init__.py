"""The rows of an archive, out and in: `archiving`. What another database says of its runs: `foreign`."""
