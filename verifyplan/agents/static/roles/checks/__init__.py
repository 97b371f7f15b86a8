"""What the challenger looks for, one module each; `every` is their order (SPEC G2)."""
