"""Archives: a zip file with one JSON Lines file a table and a manifest.

packing: writing one. unpacking: reading one, whoever made it. lines: a row as a line, and back. A zip, because every
tool reads it and each file in it can be had alone; DuckDB, pandas and jq read the lines.
"""
