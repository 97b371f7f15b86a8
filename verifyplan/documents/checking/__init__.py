"""THE CHECK OF HANDED-OVER DOCUMENTS: every violation of their contracts, by rule, line and fix (SPEC D2, D3)."""
