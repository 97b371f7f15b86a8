"""The convergence loop: hub and spoke, a fresh call for each agent, rules decide (SPEC part A)."""
