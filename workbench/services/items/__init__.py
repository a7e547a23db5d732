"""The items themselves: files in and out, browsing, searching and choosing."""
