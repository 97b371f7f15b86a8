"""Run logs: events as they happened, and the state that is folded from them."""
