"""Documents made of figures: the HTML report, the paper's tables, the data card. Records in, text out; no I/O.

What a document is made of
    document: tables, plots, examples and sections, before they become text. contents: the figures of a report.

From figures to documents
    report: the order of its sections, which stand in ``sections``.
    accuracy, paper: tables of an accuracy report and those of the paper. figures: percentages as they are printed.

From documents to text
    html, elements, svg, report.css: one page that needs nothing else. passages: long texts cut short.
    markdown, table_text: Markdown; aligned text, CSV and LaTeX.
"""
