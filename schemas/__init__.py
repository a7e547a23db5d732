"""The JSON Schema of every file and report; documents: lists them, and writes them from the records."""
