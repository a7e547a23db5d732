"""archiving: reads and writes the rows of an archive."""
