"""What goes to readers: the paper's tables, and the report.

The paper's tables
    paper: the tables of VerifyBench for the data sets of a project, as figures. paper_text: as text.

The report
    gathering: everything it says, counted by what the other tables are counted by. writing: the file.
    card, counting: what is in the data. scoring: scores beside gold. errors: errors worth a look.
"""
