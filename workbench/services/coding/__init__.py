"""Code: problems whose solutions are executed; what their tests are worth, and how they grow harder."""
