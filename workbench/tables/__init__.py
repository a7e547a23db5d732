"""Documents of tables and plots: records are converted to text. Only `files` does I/O.

table: declares a table's columns once. document: tables, plots, examples and sections, before they become text.
table_text, markdown, html: writers of aligned text, CSV and LaTeX; of Markdown; of a self-contained page with plots.
pictures: plots as SVG, PDF and PNG. choosing: selects columns and rows of tables. files: tables in every format, and
writing them next to the database.
"""
