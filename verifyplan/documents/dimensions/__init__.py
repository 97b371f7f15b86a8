"""The plan check: whether plans can be executed, by nine dimensions, without a model (rule D4)."""
