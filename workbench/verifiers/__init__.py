"""Question, reference answer and completion in, verdict out."""
