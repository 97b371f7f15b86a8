"""Manifests: the files in which a project declares its packages and commands, with the lines where they stand."""
