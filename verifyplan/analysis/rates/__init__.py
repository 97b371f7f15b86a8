"""Rates that a fallible panel measured on all items, corrected by the few whose truth is known."""
