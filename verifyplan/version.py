"""The versions of the package and of its rules, in one place."""

VERSION = "0.3.0"

RULES_VERSION = 2
"""The version of the rules that decide runs. Raise it, and `VERSION`, when a rule changes what a run would come to."""
