"""Tests and what they share. A package, for some libraries install a package of this name that would be found instead."""
