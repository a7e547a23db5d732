"""The only place with SQL: opening, migrations, and one module a table family."""
