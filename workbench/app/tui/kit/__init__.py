"""Widgets for large tables and long texts; they know no SQL and nothing of verifiers."""
