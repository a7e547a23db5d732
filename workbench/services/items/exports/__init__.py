"""The writers of export formats; `workbench.services.items.exporting` has the table of them.

plain: items. tables: tables of labels and verdicts. training: files to train with. interchange: what other annotation
tools read, label lines, archives. request: what is asked for.
"""
