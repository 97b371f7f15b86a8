"""Routes. Handlers check who asks, call a service, and shape the answer."""
