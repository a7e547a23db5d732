"""The database: one file, opened safely, its schema, and the tables that every job reads.

connection: opening, and transactions that begin immediately. counted: what is sent is written. failures: in words.
schema: schema.sql, the tables of every version. migrations: made, and brought up to date. schema_check: as made.
place, generation, looking: whether the file is the one that was opened, which copy it is, who has it open.
backup: checked copies, and putting one in place. column_files: copies of columns beside it.
events, states, people: who has said what. sets: frozen ones. selection: conditions as SQL.
foreign: reading another one, of which nothing is believed.
values, hashes: the present, JSON and integers in columns; whether texts are as imported.
"""
