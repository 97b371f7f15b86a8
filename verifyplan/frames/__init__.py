"""LOGS AND ARTIFACTS AS TABLES: tidy, typed, documented columns (SPEC E4)."""
