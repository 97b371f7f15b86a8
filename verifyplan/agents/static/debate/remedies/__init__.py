"""How the static builder settles a challenge in a plan: one file for each family of challenges (SPEC C5)."""
