"""Type-aware rules: decide whether two short final answers are equal, without a model."""
