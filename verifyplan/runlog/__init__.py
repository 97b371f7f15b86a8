"""WHAT IS REMEMBERED: events as they happened, and the state that folds out of them."""
