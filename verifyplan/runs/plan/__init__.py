"""The convergence loop: hub and spoke, a fresh call for each agent, rules decide (part A of the rules)."""
