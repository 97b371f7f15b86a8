"""Rules as treatments: what other rules would make of recorded votes, at what cost, and how surely (part R)."""
