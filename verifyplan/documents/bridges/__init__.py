"""FROM DOCUMENTS TO RUNS AND BACK: what one is to the other, pure (rule D5)."""
