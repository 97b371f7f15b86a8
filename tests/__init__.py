"""Tests and what they share; a package, since some libraries install one of this name that would be found instead."""
