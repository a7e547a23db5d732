"""Import and export of a whole project.

importing: any format of `data.formats`. import_report: its report. exporting: items, labels, verdicts, in every form,
and archives. training_files: files for training.

judging_files, row_files: files judged without a database.

records: lines of files, and reports. store: rows of an archive.
"""
