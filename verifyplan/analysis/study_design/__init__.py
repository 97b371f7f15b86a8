"""How many runs show a difference, and when those made so far already do."""
