"""Items and code problems: files in and out, rows of the database.

formats: files of others, read and written. store: rows. records: what lists show.
alike: texts that say the same, and draws among them. querying: whole results for notebooks.
paging: a query's rows as a table reads them. searching: a text in all of them, and the index of texts.
"""
