"""The screens, one module each, named by what they show; imported when first opened."""
