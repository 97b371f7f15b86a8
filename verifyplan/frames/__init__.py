"""Logs, artifacts and votes as tables: tidy, typed, with documented columns (rule E4)."""
