"""Documents made of metrics. Records in, text out; only `files` does I/O.

table: one declaration of columns over records. document: tables, plots, examples and sections, before they become text.
table_text, markdown, html: aligned text, CSV and LaTeX; Markdown; one self-contained page, with its plots. pictures:
plots as SVG, PDF and PNG. choosing: tables in part. files: tables in every format, and files of them next to the
database.
"""
