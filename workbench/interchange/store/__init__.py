"""archiving: reads and writes the rows of an archive. foreign: reads runs of another database."""
