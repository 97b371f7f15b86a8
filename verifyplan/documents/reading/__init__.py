"""The documents that agents hand to each other: nine contracts, read leniently and written back unchanged (rule D1)."""
