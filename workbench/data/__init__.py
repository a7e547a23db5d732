"""Items and code problems: files in and out, rows of the database.

formats: external file formats, read and written. store: rows. records: list rows. alike: near-duplicate texts, and
seeded draws. querying: complete results for notebooks. paging: a query's rows by page. searching: full-text search, and
the index of texts.
"""
