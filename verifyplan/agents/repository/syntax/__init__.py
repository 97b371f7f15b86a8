"""Definitions and imports in source files, read by tree-sitter in a process of its own."""
