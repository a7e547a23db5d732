"""Items and code problems: reading and writing files, and rows of the database.

formats: external file formats. store: the SQL of the database's rows. records: records that lists and reports show.
alike: near-duplicate texts, and reproducible random draws. querying: complete query results for notebooks. paging:
a query's rows page by page. searching: full-text search, and the index of texts.
"""
