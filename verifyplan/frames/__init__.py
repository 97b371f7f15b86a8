"""LOGS AND ARTIFACTS AS TABLES: tidy, typed, documented columns (rule E4)."""
