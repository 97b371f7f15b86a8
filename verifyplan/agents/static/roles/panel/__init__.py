"""The panel that votes on challenges: three workers, each with means of its own (SPEC A9, B4)."""
