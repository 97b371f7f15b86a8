"""The check of documents that agents hand to each other: every violation of their contracts (rules D2, D3)."""
