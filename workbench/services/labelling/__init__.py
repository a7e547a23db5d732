"""People at work: labels, conflicts, who does what, and how far they agree."""
