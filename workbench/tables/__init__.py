"""Documents of tables and plots: records are converted to text. Only `files` does I/O.

table: declares a table's columns once. document: tables, plots, examples and sections, before they become text.
table_text, markdown, html: writers of aligned text, CSV and LaTeX; of Markdown; of a self-contained page with plots.
pictures: plots as SVG, PDF and PNG. files: selects columns and rows of tables, and writes tables in every format.
"""
