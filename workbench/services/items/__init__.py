"""The items themselves: files in and out, browsing, searching and choosing.

importing: files in; import_report: what became of them; grading: what a log's own graders said. exporting: files out,
by the writers in exports. archiving, restoring: a whole project in one file, and back. browsing, searching: for the
app. choosing: which verifier is meant.
"""
