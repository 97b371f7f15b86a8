"""Agents are called, their answers recorded, and votes counted here; what is verified is the business of `runs`."""
