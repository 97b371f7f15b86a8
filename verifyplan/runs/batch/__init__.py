"""MANY RUNS AT ONCE: their requests travel in message batches, at half the price; each run has its own log."""
