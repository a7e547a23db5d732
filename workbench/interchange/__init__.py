"""Files in and out of a whole project.

importing: any format of `data.formats`. exporting: items, labels, verdicts, in every form.
merging: runs of other machines, merging_evolutions: their steps. code_counts: what problems bring along.
archive: a project in one file. records: lines and reports. store: rows of an archive, and of another database.
"""
