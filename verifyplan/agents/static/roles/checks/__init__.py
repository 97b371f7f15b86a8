"""What the challenger looks up, one module a check; each yields the places looked at and the issues found there."""
