"""Cross-verification: workers vote on each other's findings until rules settle them (part B of the rules)."""
