"""WHAT IS LEARNT: analyses of tables; they never call an agent."""
