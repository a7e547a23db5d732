"""Which items verifiers, gold and people disagree on, and how strongly: arrays in, rankings out."""
