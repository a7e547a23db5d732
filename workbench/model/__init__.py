"""What the field talks about: plain typed records and the answer-type taxonomy, no I/O."""
