"""WHAT HOLDS ACROSS DOCUMENTS: one file a subject, each a function of a tree (rule D3)."""
