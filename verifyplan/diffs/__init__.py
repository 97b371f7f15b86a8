"""Unified diffs: made of texts, read strictly, applied."""
