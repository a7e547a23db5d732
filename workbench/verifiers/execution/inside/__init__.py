"""Code that runs inside the sandbox: only the standard library, on the interpreter that runs the programs."""
