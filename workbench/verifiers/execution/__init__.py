"""Running solutions against tests, where what they do can harm nobody."""
