"""A free task under debate: what it asks for as criteria, and the edits that need no author (SPEC C2)."""
