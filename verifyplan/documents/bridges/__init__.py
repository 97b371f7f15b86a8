"""FROM DOCUMENTS TO RUNS AND BACK: claims, must-haves and blockers in, verifications and gap plans out (rule D5)."""
