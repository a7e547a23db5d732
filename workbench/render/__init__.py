"""Text in, styled text out: math, Markdown, code, bars."""
