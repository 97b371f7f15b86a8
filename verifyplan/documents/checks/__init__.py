"""THE CHECK OF HANDED-OVER DOCUMENTS: every violation of their contracts, by rule, line and fix (rules D2, D3)."""
