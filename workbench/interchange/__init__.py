"""Files in and out of a whole project.

importing: any format of `data.formats`. exporting: items, labels, verdicts, in every form.
code_counts: what problems bring along. archive: a project in one file. records: lines and reports.
store: the archive's rows.
"""
