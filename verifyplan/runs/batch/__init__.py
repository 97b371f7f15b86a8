"""Many runs at once: their requests are sent in message batches, at half the price; each run has its own log."""
