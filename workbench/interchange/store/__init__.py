"""The rows of an archive, out and in: `archiving`."""
