"""WHAT FOLLOWS: pure functions of protocol objects, one rule set a file, named as in SPEC."""
