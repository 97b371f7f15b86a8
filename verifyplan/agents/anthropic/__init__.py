"""The backend over the Messages API, of Anthropic or of any compatible endpoint."""
