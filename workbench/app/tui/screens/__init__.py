"""The screens, one module each; imported when first opened."""
