"""A plan that got REVISE, debated into a revised plan and verified again (rule C5)."""
