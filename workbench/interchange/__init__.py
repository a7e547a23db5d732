"""Files in and out of a whole project.

importing: any format of `data.formats`. exporting: items, labels, verdicts, in every form.
training_files: what trainers read.

judging_files, row_files, solution_rows, partitions: files judged without a database.

code_counts: contents of code problems.

merging: runs of other machines, merging_evolutions: their steps.

archive: a project in one file. records: lines and reports. store: rows of an archive, and of another database.
"""
