"""Documents made of figures: the HTML report, the paper's tables, the data card. Records in, text out; no I/O."""
