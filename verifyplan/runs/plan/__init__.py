"""Verify plans: all state passes through one loop, each call of an agent is fresh, rules decide (part A)."""
