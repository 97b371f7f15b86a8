"""THE DOCUMENTS THAT AGENTS HAND OVER: the nine contracts, read leniently and written back unchanged (rule D1)."""
