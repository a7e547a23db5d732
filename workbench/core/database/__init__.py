"""The database: one file, opened safely, its schema, and the tables shared by all packages.

connection: opening, and transactions that begin immediately. failures: SQLite errors as messages. schema: schema.sql,
the tables, and foreign and changed objects. migrations: creation and upgrades. place,
looking, changes: the file, read-only access also to an untrusted database, the record of changes. backup: verified
copies, and replacing a database by one. events, states, people: annotators and their labels. sets: frozen sets.
selection: conditions as SQL. values, hashes: timestamps, JSON and integers in columns; integrity of texts and labels.
journal: label events as lines of a file.
"""
