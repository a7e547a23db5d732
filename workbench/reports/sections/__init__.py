"""The parts of a report; each makes its section of the same contents, or none."""
